#include "codegen/memory/in_place.h"

#include <gtest/gtest.h>

#include "codegen/cpu/kernel_passes.h"
#include "ir/text/parse.h"
#include "tests/support/check_lowering.h"

namespace anabranch::testing {
namespace {

TEST(InPlace, ResultsTakeOperandsReadAtTheSamePlace) {
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  auto pairs_of = [](const std::string& text) {
    return in_place_buffers(lower_region(parse(text)).calls.at(0).kernel);
  };
  EXPECT_EQ(pairs_of(R"(
graph same(%0: f32[8], %1: f64[8]) {
  %2: f32[8] = convert %1
  %3: f32[8] = add %0, %2
  %4: f32[8] = negate %0
  return %3, %4
})"),
            (Pairs{{0, 2}, {0, 3}}));
  EXPECT_EQ(pairs_of(R"(
graph turned(%0: f32[8]) {
  %1: f32[8] = reverse %0 axes=[0]
  %2: f32[8] = add %0, %1
  return %2
})"),
            Pairs{});
  EXPECT_EQ(pairs_of(R"(
graph rows(%0: f32[8,4], %1: f32[8]) {
  %2: f32[8] = reduce_sum %0 axes=[1]
  %3: f32[8] = add %2, %1
  return %3
})"),
            (Pairs{{1, 2}}));
}

// A thread that stores a row's result may be ahead of others that still read at its place.
TEST(InPlace, NotBehindALoopThatDoesNotWait) {
  const auto pairs = [](const std::string& more) {
    return in_place_buffers(lower_region(parse(R"(
graph rows(%0: f32[64,4096], %1: f32[64]) {
  %2: f32[64] = reduce_sum %0 axes=[1]
  %3: f32[64,4096] = broadcast_in_dim %2 axes=[0]
  %4: f32[64,4096] = subtract %0, %3
  %5: f32[64,4096] = broadcast_in_dim %1 axes=[0]
  %6: f32[64,4096] = multiply %4, %5
  %7: f32[64] = add %1, %2
  return )" + more + "%7\n}"))
                                .calls.at(0)
                                .kernel)
        .size();
  };
  EXPECT_EQ(pairs("%6, "), 0u);
  EXPECT_EQ(pairs(""), 1u);
}

// Loads and stores that a pass has made several of.
TEST(InPlace, IsSeenInWhatPassesMake) {
  const auto may_be = [](const std::string& text) {
    const Kernel kernel = lower_region(parse(text)).calls.at(0).kernel;
    const bool before = may_be_in_place(kernel);
    EXPECT_EQ(before, !in_place_buffers(kernel).empty());
    EXPECT_EQ(before, may_be_in_place(run_passes(cpu::kernel_passes(), kernel, KernelContext{})));
    return before;
  };
  EXPECT_TRUE(may_be(R"(
graph columns(%0: f32[9000,3], %1: f32[9000,3]) {
  %2: f32[9000] = reduce_sum %0 axes=[1]
  %3: f32[9000,3] = broadcast_in_dim %2 axes=[0]
  %4: f32[9000,3] = multiply %1, %3
  return %4
})"));
  EXPECT_FALSE(may_be(R"(
graph turned(%0: f32[64,64]) {
  %1: f32[64,64] = transpose %0 axes=[1,0]
  return %1
})"));
}

// out = x, then more = x once more: the second load would find what the store has written.
TEST(InPlace, WhatIsStillReadIsNotWrittenOver) {
  for (bool again : {false, true}) {
    Kernel kernel;
    kernel.name = "again";
    for (Access access : {Access::read, Access::write, Access::write}) {
      kernel.buffers.push_back({"b" + std::to_string(kernel.buffers.size()), f32, 8, access});
    }
    auto define = [&](Dtype dtype, Operation operation) {
      kernel.instructions.push_back({std::move(operation), dtype, {}});
      return Ref{static_cast<std::uint32_t>(kernel.instructions.size() - 1)};
    };
    Loop whole;
    whole.extent = 8;
    const Ref loop = define(i64, whole);
    const Index i = kernel.index_of(loop);
    const Ref first = define(f32, Load{0, i, {}});
    const Ref stored = define(i64, Store{1, i, first});
    const Ref second = again ? define(f32, Load{0, i, {}}) : first;
    const Ref last = define(i64, Store{2, i, second});
    std::get<Loop>(kernel[loop].operation).body =
        again ? Block{first, stored, second, last} : Block{first, stored, last};
    kernel.body = {loop};
    using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    EXPECT_EQ(in_place_buffers(kernel), again ? (Pairs{{0, 2}}) : (Pairs{{0, 1}, {0, 2}}));
  }
}

// The second turn would find what the first one stored.
TEST(InPlace, APlaceThatALoopComesToAgainIsNotWrittenOver) {
  EXPECT_EQ(in_place_buffers(parse_kernels(R"(
kernel k(in a: f32[8], out b: f32[8]) {
  for i < 8 {
    for j < 3 {
      %0: bool = compare %j, 1 direction=lt
      %1: f32 = load a[%i] if %0
      store b[%i] = %1
    }
  }
})")
                                 .at(0))
                .size(),
            0u);
  EXPECT_EQ(in_place_buffers(parse_kernels(R"(
kernel k(in a: f32[24], out b: f32[24]) {
  for i < 8 {
    for j < 3 {
      %0: f32 = load a[%j * 8 + %i]
      store b[%j * 8 + %i] = %0
    }
  }
})")
                                 .at(0))
                .size(),
            1u);
}

// A block that ends with the array, and begins before the one ahead of it has ended.
TEST(InPlace, APlaceOfTwoBlocksIsNotWrittenOver) {
  const auto pairs = [](const std::string& place) {
    return in_place_buffers(parse_kernels(R"(
kernel k(in a: f32[12], out b: f32[12]) {
  for i < 3 {
    for j < 4 {
      %0: f32 = load a[)" + place + R"( + %j]
      store b[)" + place + R"( + %j] = %0
    }
  }
})")
                                .at(0))
        .size();
  };
  EXPECT_EQ(pairs("min(%i * 4, 6)"), 0u);
  EXPECT_EQ(pairs("%i * 4"), 1u);
}

}  // namespace
}  // namespace anabranch::testing
