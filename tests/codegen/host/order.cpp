// The host's sorts and running combinations against the interpreter: every dtype, any axis, short
// and long lines, on one thread, cut into ranges and by threads that work together.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <thread>

#include "codegen/host/cumulative.h"
#include "codegen/host/sort.h"
#include "codegen/host/sort_items.h"
#include "codegen/host/sort_keys.h"
#include "tests/support/compare.h"
#include "tests/support/host_call.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

struct Call : HostCall {
  using HostCall::HostCall;

  HostTask task() const {
    return step.op == Op::cumulative ? host::cumulative_task(step, 4) : host::sort_task(step, 4);
  }
  Literal alone() const { return HostCall::alone(task()); }

  // From the last range to the first; threads where ranges work together.
  Literal cut(Random& random) const {
    const HostTask task = this->task();
    return result([&](void* const* buffers) {
      if (task.share) return run_together(task, buffers);
      for (std::int64_t end = task.extent; end > 0;) {
        const std::int64_t begin = random.percent(50) ? random.below(end) : 0;
        task.function(task.context.get(), buffers, begin, end);
        end = begin;
      }
    });
  }
};

std::int64_t random_extent(Random& random) {
  constexpr std::int64_t extents[] = {0, 1, 2, 3, 7, 8, 17, 33, 255, 511, 512, 513, 1000, 5000};
  return random.of(extents);
}

Shape random_lines(Random& random, std::int64_t& axis) {
  const std::int64_t extent = random_extent(random);
  const std::int64_t most = extent > 600 ? 2 : 6;
  switch (random.below(4)) {
    case 0:
      axis = 0;
      return Shape{extent};
    case 1:
      axis = 1;
      return Shape{random.below(most + 1), extent};
    case 2:
      axis = 0;
      return Shape{extent, 1 + random.below(most)};
    default:
      axis = 1;
      return Shape{1 + random.below(3), extent, 1 + random.below(most)};
  }
}

// Many elements are equal where the flavour makes few values.
Literal random_operand(Random& random, const Type& type) {
  constexpr Flavour flavours[] = {Flavour::ordinary, Flavour::special, Flavour::positive};
  return random_literal(random, type, random.of(flavours));
}

void expect_interpreted(const Call& call, Random& random) {
  const Literal wanted = interpret(call.node(), std::span(&call.operand, 1))[0];
  ASSERT_EQ(call.alone(), wanted) << to_string(call.operand.type());
  ASSERT_EQ(call.cut(random), wanted) << to_string(call.operand.type()) << " cut";
}

// All but the complex ones, which have no order.
std::vector<Dtype> ordered_dtypes() {
  std::vector<Dtype> dtypes;
  for (int k = 0; k < dtype_count; ++k) {
    if (!is_complex(static_cast<Dtype>(k))) dtypes.push_back(static_cast<Dtype>(k));
  }
  return dtypes;
}

TEST(HostOrder, SortsAsTheInterpreterDoes) {
  Random random(1);
  for (const Dtype dtype : ordered_dtypes()) {
    for (int round = 0; round < 25; ++round) {
      std::int64_t axis = 0;
      const Shape shape = random_lines(random, axis);
      const Literal x = random_operand(random, {dtype, shape});
      const bool descending = random.percent(50);
      const auto positions = random.percent(50) ? PositionDtype::i32 : PositionDtype::i64;
      expect_interpreted({Op::sort, SortAttributes{axis, descending}, x}, random);
      expect_interpreted({Op::argsort, ArgsortAttributes{axis, descending, positions}, x}, random);
    }
  }
}

// Long enough that threads share a line.
TEST(HostOrder, SortsLongLinesOnSeveralThreads) {
  Random random(2);
  for (const Dtype dtype : ordered_dtypes()) {
    const Shape shape{65'536 + random.below(40'000)};
    const Literal x = random_operand(random, {dtype, shape});
    const bool descending = random.percent(50);
    expect_interpreted({Op::sort, SortAttributes{0, descending}, x}, random);
    expect_interpreted({Op::argsort, ArgsortAttributes{0, descending}, x}, random);
  }
}

TEST(HostOrder, ZerosAndNansKeepTheirBitsAndOrder) {
  Random random(3);
  std::vector<float> values;
  for (int i = 0; i < 100'000; ++i) {
    const float choices[] = {0.f,
                             -0.f,
                             NAN,
                             -NAN,
                             1.f,
                             -1.f,
                             std::bit_cast<float>(0x7fc00123u + static_cast<unsigned>(i % 5))};
    values.push_back(random.of(choices));
  }
  const Literal x = Literal::of(std::span<const float>(values), Shape{100'000});
  expect_interpreted({Op::sort, SortAttributes{0, false}, x}, random);
  expect_interpreted({Op::sort, SortAttributes{0, true}, x}, random);
  expect_interpreted({Op::argsort, ArgsortAttributes{0, true}, x}, random);
}

TEST(HostOrder, PartsOfAMergeAreTheMerge) {
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> a, b, merged;
    for (std::int64_t n = random.below(30); n > 0; --n) {
      a.push_back(static_cast<std::uint32_t>(random.below(20)));
    }
    for (std::int64_t n = random.below(30); n > 0; --n) {
      b.push_back(static_cast<std::uint32_t>(random.below(20)));
    }
    std::ranges::sort(a);
    std::ranges::sort(b);
    std::ranges::merge(a, b, std::back_inserter(merged));
    const auto size = static_cast<std::int64_t>(merged.size());
    std::vector<std::uint32_t> parts(merged.size());
    for (std::int64_t begin = 0; begin < size;) {
      const std::int64_t end = begin + 1 + random.below(size - begin);
      host::merge_range(a.data(), static_cast<std::int64_t>(a.size()), b.data(),
                        static_cast<std::int64_t>(b.size()), begin, end, parts.data() + begin);
      begin = end;
    }
    EXPECT_EQ(parts, merged);
  }
}

void expect_bounded(const Call& call, Random& random) {
  const Bounded operand = Bounded::exact(call.operand);
  const std::vector<Bounded> wanted = interpret_bounded(call.node(), std::span(&operand, 1), 0);
  const Literal alone = call.alone();
  const auto wrong = difference(wanted, std::span(&alone, 1));
  ASSERT_FALSE(wrong) << *wrong;
  // Threads change no bit.
  ASSERT_TRUE(call.cut(random) == alone) << to_string(call.operand.type());
}

constexpr Running all_running[] = {Running::sum, Running::product, Running::maximum,
                                   Running::minimum};

TEST(HostOrder, RunningCombinationsAreTheInterpreters) {
  Random random(5);
  for (int k = 0; k < dtype_count; ++k) {
    const auto dtype = static_cast<Dtype>(k);
    for (const Running of : all_running) {
      const bool arithmetic = of == Running::sum || of == Running::product;
      if (arithmetic ? dtype == bool_ : is_complex(dtype)) continue;
      for (int round = 0; round < 12; ++round) {
        std::int64_t axis = 0;
        const Shape shape = random_lines(random, axis);
        const Literal x = random_operand(random, {dtype, shape});
        expect_bounded({Op::cumulative, CumulativeAttributes{axis, of, random.percent(50)}, x},
                       random);
      }
    }
  }
}

TEST(HostOrder, RunningCombinationsOfLongLines) {
  Random random(6);
  for (const Dtype dtype : {f32, f64, i32, i64, u8, bf16}) {
    for (const bool reverse : {false, true}) {
      const Literal x =
          random_literal(random, {dtype, Shape{140'000 + random.below(9)}}, Flavour::positive);
      expect_bounded({Op::cumulative, CumulativeAttributes{0, Running::sum, reverse}, x}, random);
      expect_bounded({Op::cumulative, CumulativeAttributes{0, Running::maximum, reverse}, x},
                     random);
    }
  }
  // Past the caches.
  const Literal x = random_literal(random, {f64, Shape{2'100'003}}, Flavour::ordinary);
  expect_bounded({Op::cumulative, CumulativeAttributes{0, Running::sum, true}, x}, random);
}

}  // namespace
}  // namespace anabranch
