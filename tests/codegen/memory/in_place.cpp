#include "codegen/memory/in_place.h"

#include <gtest/gtest.h>

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
