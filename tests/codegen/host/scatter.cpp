// The host's scatter against the interpreter: every case of dimension numbers, dtype and combiner,
// however it is cut.
#include "codegen/host/scatter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "codegen/host/combine.h"
#include "ir/infer/infer.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "tests/support/random_windows.h"

namespace anabranch {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const Literal& literal) {
  return Bytes(literal.bytes().begin(), literal.bytes().end());
}

struct Scattered {
  CallStep call;
  std::vector<Literal> operands;

  Literal wanted() const {
    Node node;
    node.op = Op::scatter;
    node.types = {operands[0].type()};
    node.attributes = call.attributes;
    return interpret(node, operands)[0];
  }

  /// Cut where `random` says, from the last part to the first.
  Literal run(Random& random, bool in_place, std::int64_t cores = 4) const {
    HostTask task = scatter_task(call, cores);
    if (task.share) {
      if (random.percent(50)) {
        task.context = task.share(task.context.get(), nullptr);
      } else {
        task.extent = 1;  // one thread does all of it
      }
    }
    Bytes array = bytes_of(operands[0]), indices = bytes_of(operands[1]),
          updates = bytes_of(operands[2]), result(array.size());
    void* const buffers[] = {array.data(), indices.data(), updates.data(),
                             in_place ? array.data() : result.data()};
    for (std::int64_t end = task.extent; end > 0;) {
      const std::int64_t begin = random.percent(50) ? random.below(end) : 0;
      task.function(task.context.get(), buffers, begin, end);
      end = begin;
    }
    return Literal(operands[0].type(), in_place ? std::move(array) : std::move(result));
  }
};

Scattered scattered(ScatterAttributes attributes, std::vector<Literal> operands) {
  Scattered made{{Op::scatter, {}, std::move(attributes)}, std::move(operands)};
  for (const Literal& operand : made.operands) made.call.operands.push_back(operand.type());
  return made;
}

Scattered random_case(Random& random, Dtype dtype, ScatterCombiner combiner, const Shape& shape,
                      std::int64_t limit) {
  const RandomScatter made = random_scatter(random, shape, limit, combiner);
  const auto index = random.percent(50) ? i32 : i64;
  std::int64_t largest = 1;
  for (std::int64_t size : shape) largest = std::max(largest, size);
  const Flavour flavour = random.percent(60) ? Flavour::ordinary : Flavour::special;
  return scattered(made.attributes, {random_literal(random, {dtype, shape}, flavour),
                                     random_indices(random, index, made.indices, largest),
                                     random_literal(random, {dtype, made.updates}, flavour)});
}

bool takes(Dtype dtype, ScatterCombiner combiner) {
  if (is_complex(dtype)) return combiner <= ScatterCombiner::multiply;
  return !is_float(dtype) || combiner <= ScatterCombiner::maximum;
}

/// Calls `check` with each dtype and combiner that go together, until it fails.
template <class Check>
void for_each_combination(Check check) {
  for (int d = 0; d < dtype_count; ++d) {
    for (std::size_t c = 0; c < words<ScatterCombiner>.size(); ++c) {
      const auto dtype = static_cast<Dtype>(d);
      const auto combiner = static_cast<ScatterCombiner>(c);
      if (!takes(dtype, combiner)) continue;
      check(dtype, combiner);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

void expect_same(const Literal& got, const Literal& wanted) {
  for (std::int64_t i = 0; i < wanted.type().size(); ++i) {
    if (got.bits(i) == wanted.bits(i)) continue;
    const bool both_nan = visit_any_dtype(wanted.type().dtype, [&]<class T>() {
      const auto at = static_cast<std::size_t>(i);
      const T a = got.values<T>()[at], b = wanted.values<T>()[at];
      return a != a && b != b;
    });
    ASSERT_TRUE(both_nan) << "element " << i;
  }
}

TEST(HostScatter, GivesWhatTheInterpreterGives) {
  Random random(3);
  for_each_combination([&](Dtype dtype, ScatterCombiner combiner) {
    for (int turn = 0; turn < 40; ++turn) {
      std::vector<std::int64_t> sizes;
      for (std::int64_t axes = random.below(5); axes > 0; --axes) {
        sizes.push_back(random.percent(5) ? 0 : 1 + random.below(6));
      }
      const Scattered made = random_case(random, dtype, combiner, Shape(sizes), 100);
      const bool in_place = random.percent(50);
      expect_same(made.run(random, in_place), made.wanted());
      if (HasFatalFailure()) {
        FAIL() << name(dtype) << " " << name(combiner) << " turn " << turn
               << (in_place ? " in place" : "");
      }
    }
  });
}

// More runs than are placed at once, and long runs that are cut.
TEST(HostScatter, OfManyUpdates) {
  Random random(4);
  for (const Shape& shape : {Shape{5000}, Shape{40, 30}, Shape{3, 9000}, Shape{7, 5, 40}}) {
    for (int turn = 0; turn < 20; ++turn) {
      const ScatterCombiner combiner =
          turn % 2 == 0 ? ScatterCombiner::add : ScatterCombiner::replace;
      const Scattered made = random_case(random, f32, combiner, shape, 20'000);
      expect_same(made.run(random, turn % 3 == 0), made.wanted());
      if (HasFatalFailure()) FAIL() << to_string(Type{f32, shape}) << " turn " << turn;
    }
  }
}

// Integers that every dtype holds.
Literal small_integers(Random& random, const Type& type) {
  return visit_any_dtype(type.dtype, [&]<class T>() {
    std::vector<std::byte> bytes(type.bytes());
    for (std::int64_t i = 0; i < type.size(); ++i) {
      const T value = convert_scalar<T>(static_cast<double>(random.below(3)));
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
    return Literal(type, std::move(bytes));
  });
}

// Each thread takes a part of the updates, where they need not be combined in their order.
TEST(HostScatter, ManyUpdatesOfFewElements) {
  Random random(6);
  for_each_combination([&](Dtype dtype, ScatterCombiner combiner) {
    for (const std::int64_t rows : {1, 7, 300}) {
      const std::int64_t width = random.percent(30) ? 3 : 1, lines = 1 + random.below(3);
      const std::int64_t updates = 80'000 / (lines * width) + random.below(100);
      const Dtype index = random.percent(70) ? i32 : i64;
      const Scattered made = scattered({{2}, {0}, {}, {}, {0}, 2, combiner},
                                       {small_integers(random, {dtype, {rows, width}}),
                                        random_indices(random, index, {lines, updates}, rows),
                                        small_integers(random, {dtype, {lines, updates, width}})});
      EXPECT_EQ(scatter_task(made.call, 4).share != nullptr,
                combines_in_any_order(dtype, combiner));
      expect_same(made.run(random, random.percent(50)), made.wanted());
      if (HasFatalFailure()) {
        FAIL() << name(dtype) << " " << name(combiner) << ", " << rows << " rows of " << width;
      }
    }
  });
}

// Sums and products of floats: parts of the updates that the sizes decide, whatever the threads.
TEST(HostScatter, ManyUpdatesOfFloats) {
  Random random(7);
  for (const Dtype dtype : {f32, f64}) {
    for (const ScatterCombiner combiner : {ScatterCombiner::add, ScatterCombiner::multiply}) {
      for (const std::int64_t rows : {1, 300, 40'000}) {
        const std::int64_t width = rows == 1 ? 1 : 1 + random.below(20);
        const std::int64_t updates = (1 << 20) / width + random.below(2000);
        const auto made_of = [&](const Literal& array, const Literal& values) {
          return scattered({{1}, {0}, {}, {}, {0}, 1, combiner},
                           {array, random_indices(random, i32, {updates}, rows), values});
        };
        const Type array{dtype, {rows, width}}, values{dtype, {updates, width}};
        // Nothing rounds: what the interpreter gives, to the bit.
        const Scattered exact =
            made_of(small_integers(random, array), small_integers(random, values));
        const std::int64_t parts = updates / (8 * rows);
        EXPECT_EQ(scatter_task(exact.call, 1).share != nullptr, parts > 1);
        expect_same(exact.run(random, random.percent(50)), exact.wanted());
        const Scattered rounded = made_of(random_literal(random, array, Flavour::ordinary),
                                          random_literal(random, values, Flavour::ordinary));
        const Literal by_one = rounded.run(random, false, 1);
        for (const std::int64_t cores : {2, 5, 16}) {
          expect_same(rounded.run(random, random.percent(50), cores), by_one);
        }
        if (HasFatalFailure()) {
          FAIL() << name(dtype) << " " << name(combiner) << ", " << rows << " rows of " << width;
        }
      }
    }
  }
}

// -0 and -0 is -0, of any part.
TEST(HostScatter, ManyNegativeZeros) {
  Random random(8);
  constexpr std::int64_t updates = 1 << 20;
  std::vector<float> zeros(updates, -0.0f), array(3, -0.0f);
  zeros[updates / 2] = 0;
  std::vector<std::int32_t> places(updates);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i == updates / 2 ? 1 : i % 2 * 2;
  const Scattered made =
      scattered({{}, {0}, {}, {}, {0}, 1, ScatterCombiner::add},
                {Literal::of<float>(array, {3}), Literal::of<std::int32_t>(places, {updates}),
                 Literal::of<float>(zeros, {updates})});
  ASSERT_NE(scatter_task(made.call, 4).share, nullptr);
  expect_same(made.run(random, false), made.wanted());
  EXPECT_TRUE(std::signbit(made.wanted().values<float>()[0]));
  EXPECT_FALSE(std::signbit(made.wanted().values<float>()[1]));
}

// Rows of a cache line's elements and fewer and more, added at places that one index gives.
TEST(HostScatter, OfRows) {
  Random random(5);
  for_each_combination([&](Dtype dtype, ScatterCombiner combiner) {
    for (const std::int64_t width : {1, 2, 15, 16, 17, 64, 130}) {
      const std::int64_t rows = 1 + random.below(40), updates = random.below(1500 / width + 9);
      const Dtype index = random.percent(70) ? i32 : i64;
      const Scattered made =
          scattered({{1}, {0}, {}, {}, {0}, 1, combiner},
                    {random_literal(random, {dtype, {rows, width}}, Flavour::ordinary),
                     random_indices(random, index, {updates}, rows),
                     random_literal(random, {dtype, {updates, width}}, Flavour::ordinary)});
      expect_same(made.run(random, random.percent(50)), made.wanted());
      if (HasFatalFailure()) {
        FAIL() << name(dtype) << " " << name(combiner) << " rows of " << width;
      }
    }
  });
}

TEST(HostScatter, IsCutWhereThatIsWorthIt) {
  const ScatterAttributes rows{{1}, {0}, {}, {}, {0}, 1, ScatterCombiner::add};
  const CallStep small{Op::scatter, {{f32, {8, 16}}, {i32, {4}}, {f32, {4, 16}}}, rows};
  EXPECT_GE(scatter_task(small, 8).grain, scatter_task(small, 8).extent);
  const CallStep large{
      Op::scatter, {{f32, {1 << 16, 16}}, {i32, {1 << 20}}, {f32, {1 << 20, 16}}}, rows};
  const HostTask task = scatter_task(large, 8);
  EXPECT_EQ((task.extent + task.grain - 1) / task.grain, 8);
  EXPECT_EQ(scatter_pieces(large, 8), 8);
}

}  // namespace
}  // namespace anabranch
