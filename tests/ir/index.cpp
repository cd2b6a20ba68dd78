#include "ir/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "anabranch/error.h"

namespace anabranch {
namespace {

std::int64_t floor_divide(std::int64_t a, std::int64_t by) { return a / by - (a % by < 0 ? 1 : 0); }

/// The value of an expression where loop k stands at places[k].
std::int64_t evaluate(const IndexTable& table, Index index,
                      const std::vector<std::int64_t>& places) {
  std::int64_t sum = table[index].constant;
  for (IndexTable::Term term : table[index].terms) {
    const IndexTable::Atom& atom = table.atom(term.atom);
    std::int64_t value = 0;
    if (atom.kind == IndexTable::Atom::Kind::loop) {
      value = places[atom.loop];
    } else {
      const std::int64_t of = evaluate(table, atom.of, places);
      if (atom.kind == IndexTable::Atom::Kind::least) value = std::min(of, atom.by);
      if (atom.kind == IndexTable::Atom::Kind::quotient) value = of / atom.by;
      if (atom.kind == IndexTable::Atom::Kind::remainder) value = of % atom.by;
      const bool divides = atom.kind != IndexTable::Atom::Kind::least;
      EXPECT_TRUE(!divides || of >= 0) << "emitted division rounds to zero";
    }
    sum += term.factor * value;
  }
  return sum;
}

TEST(Index, SimplifiesWhatReshapesLeave) {
  IndexTable table;
  const Index i = table.loop(0, 10), j = table.loop(1, 64), x = table.loop(2, 240);
  const Index flat = table.add(table.scale(i, 64), j);
  EXPECT_EQ(table.divide(flat, 64), i);
  EXPECT_EQ(table.remainder(flat, 64), j);
  const std::int64_t sizes[] = {5, 4, 12};
  EXPECT_EQ(table.flatten(table.unflatten(x, sizes), sizes), x);
  const Index turned = table.add(table.scale(x, -1), 239);
  EXPECT_EQ(table.flatten(table.unflatten(turned, sizes), sizes), turned);
  EXPECT_EQ(table.loop(3, 1), table.constant(0));
  EXPECT_EQ(table.least(j, 63), j);
}

TEST(Index, RefusesConstantsAndFactorsThatLeave64Bits) {
  constexpr std::int64_t large = std::int64_t{1} << 61;
  IndexTable table;
  const Index i = table.loop(0, 10), x = table.scale(i, large), c = table.constant(large);
  EXPECT_THROW(table.scale(x, 4), Error);
  EXPECT_THROW(table.scale(c, -8), Error);
  EXPECT_THROW(table.constant(std::numeric_limits<std::int64_t>::min()), Error);
  EXPECT_THROW(table.add(table.add(c, c), c), Error);
  EXPECT_THROW(table.add(table.add(x, x), x), Error);
}

TEST(Index, KnowsRangesThatLeave64BitsAsTheEndsOfThese) {
  constexpr std::int64_t large = std::int64_t{1} << 61;
  IndexTable table;
  const Index x = table.scale(table.loop(0, 10), large);
  EXPECT_EQ(table[x].low, 0);
  EXPECT_EQ(table[x].high, std::numeric_limits<std::int64_t>::max());
  const Index turned = table.scale(x, -1);
  EXPECT_EQ(table[turned].low, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(table[turned].high, 0);
  EXPECT_EQ(table.divide(x, large), table.loop(0, 10));
  EXPECT_EQ(table[table.remainder(x, 7)].high, 6);
}

TEST(Index, ALoopMayBeginAnywhere) {
  IndexTable table;
  const Index i = table.loop(0, 16, 48);
  EXPECT_EQ(table[i].low, 48);
  EXPECT_EQ(table[i].high, 63);
  EXPECT_EQ(table.divide(i, 16), table.constant(3));
  EXPECT_EQ(table.remainder(i, 16), table.add(i, -48));
  EXPECT_EQ(table.least(i, 40), table.constant(40));
  EXPECT_EQ(table.loop(1, 1, 5), table.constant(5));
}

TEST(Index, KnowsTheIndexOfALoopByItself) {
  IndexTable table;
  const Index i = table.loop(0, 10), j = table.loop(1, 10), s = table.scalar(0, 0, 9);
  EXPECT_TRUE(table.is_loop(i, 0));
  EXPECT_FALSE(table.is_loop(i, 1));
  EXPECT_FALSE(table.is_loop(s, 0)) << "a scalar's number is no loop's";
  for (Index other : {table.add(i, 1), table.scale(i, 2), table.add(i, j), table.divide(i, 2),
                      table.least(i, 5), table.constant(0)}) {
    EXPECT_FALSE(table.is_loop(other, 0));
  }
}

TEST(Index, VisitsTheLoopsAndScalarsThatItDependsOn) {
  IndexTable table;
  const Index i = table.loop(0, 10), j = table.loop(1, 10), k = table.loop(2, 10);
  const Index s = table.scalar(3, 0, 9);
  const auto leaves_of = [&](Index index) {
    std::set<std::pair<bool, std::uint32_t>> leaves;  // whether it is a scalar, and its number
    table.for_each_leaf(index, [&](const IndexTable::Atom& atom) {
      leaves.emplace(atom.kind == IndexTable::Atom::Kind::scalar, atom.loop);
    });
    return leaves;
  };
  using Leaves = std::set<std::pair<bool, std::uint32_t>>;
  const Index inside = table.add(table.divide(table.add(i, s), 3), table.remainder(k, 4));
  EXPECT_EQ(leaves_of(table.least(inside, 5)), (Leaves{{false, 0}, {false, 2}, {true, 3}}));
  EXPECT_EQ(leaves_of(table.scale(j, 7)), (Leaves{{false, 1}}));
  EXPECT_EQ(leaves_of(table.constant(7)), Leaves{});
  EXPECT_TRUE(table.depends_on(inside, 2));
  EXPECT_FALSE(table.depends_on(inside, 1));
  EXPECT_FALSE(table.depends_on(inside, 3)) << "a scalar's number is no loop's";
  EXPECT_FALSE(table.is_linear_in(inside, 0));
  EXPECT_TRUE(table.is_linear_in(inside, 1));
  EXPECT_EQ(table.factor(table.add(inside, table.scale(j, -7)), 1), -7);
}

TEST(Index, AScalarChangesWithThePlaceThatItIsReadAt) {
  IndexTable table;
  const Index i = table.loop(0, 10), j = table.loop(1, 10);
  const Index s = table.scalar(0, 0, 9, table.add(table.scale(i, 4), 1));
  EXPECT_FALSE(s == table.scalar(0, 0, 9, table.add(table.scale(j, 4), 1)));
  EXPECT_FALSE(s == table.scalar(0, 0, 9));
  EXPECT_TRUE(table.depends_on(s, 0));
  EXPECT_FALSE(table.depends_on(s, 1));
  EXPECT_FALSE(table.is_linear_in(table.add(s, i), 0));
  EXPECT_TRUE(table.is_linear_in(table.add(s, j), 1));
  std::set<std::pair<bool, std::uint32_t>> leaves;
  table.for_each_leaf(s, [&](const IndexTable::Atom& atom) {
    leaves.emplace(atom.kind == IndexTable::Atom::Kind::scalar, atom.loop);
  });
  EXPECT_EQ(leaves, (std::set<std::pair<bool, std::uint32_t>>{{true, 0}, {false, 0}}));
}

TEST(Index, KnowsWhichExpressionsItHas) {
  IndexTable table;
  const Index last = table.add(table.loop(0, 10), 3);
  EXPECT_TRUE(table.contains(last));
  EXPECT_FALSE(table.contains(Index{last.id + 1}));
}

/// A way to make an expression of two others.
struct Step {
  enum Kind { sum, multiple, quotient, remainder, least };
  Kind kind = sum;
  std::size_t a = 0, b = 0;
  std::int64_t number = 1;

  Step(std::mt19937& random, std::size_t made) {
    a = random() % made;
    b = random() % made;
    number = static_cast<std::int64_t>(1 + random() % 12);
    kind = static_cast<Kind>(random() % 5);
  }

  Index of(IndexTable& table, const std::vector<Index>& made) const {
    return kind == sum         ? table.add(made[a], made[b])
           : kind == multiple  ? table.scale(made[a], number - 6)
           : kind == quotient  ? table.divide(made[a], number)
           : kind == remainder ? table.remainder(made[a], number)
                               : table.least(made[a], number);
  }
  std::int64_t of(std::int64_t x, std::int64_t y) const {
    return kind == sum         ? x + y
           : kind == multiple  ? x * (number - 6)
           : kind == quotient  ? floor_divide(x, number)
           : kind == remainder ? x - number * floor_divide(x, number)
                               : std::min(x, number);
  }
};

/// A loop of a few iterations.
struct Few {
  std::int64_t extent, first;

  explicit Few(std::mt19937& random)
      : extent(static_cast<std::int64_t>(1 + random() % 13)),
        first(random() % 2 == 0 ? 0 : static_cast<std::int64_t>(random() % 50)) {}
};

TEST(Index, RandomExpressionsKeepTheirValuesAndRanges) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    IndexTable table;
    const Few outer(random), inner(random);
    std::vector<std::vector<std::int64_t>> places;
    for (std::int64_t a = 0; a < outer.extent; ++a) {
      for (std::int64_t b = 0; b < inner.extent; ++b) {
        places.push_back({outer.first + a, inner.first + b});
      }
    }
    std::vector<Index> made = {table.loop(0, outer.extent, outer.first),
                               table.loop(1, inner.extent, inner.first)};
    std::vector<std::vector<std::int64_t>> wanted(2);
    for (const auto& place : places) {
      for (std::size_t k : {0u, 1u}) wanted[k].push_back(place[k]);
    }
    for (int count = 0; count < 12; ++count) {
      const Step step(random, made.size());
      const Index next = step.of(table, made);
      std::vector<std::int64_t> values;
      for (std::size_t p = 0; p < places.size(); ++p) {
        values.push_back(step.of(wanted[step.a][p], wanted[step.b][p]));
        ASSERT_EQ(evaluate(table, next, places[p]), values[p]);
        ASSERT_GE(values[p], table[next].low);
        ASSERT_LE(values[p], table[next].high);
      }
      made.push_back(next);
      wanted.push_back(std::move(values));
    }
  }
}

TEST(IndexCopier, WritesTheSameExpressionsInAnotherTable) {
  IndexTable from, to;
  const Index i = from.loop(0, 8), j = from.loop(1, 32), s = from.scalar(2, 0, 99);
  to.constant(123);  // so that numbers differ
  IndexCopier copy(from, to);
  copy.set_loop(0, to.loop(5, 8));
  copy.set_loop(1, to.loop(6, 32));
  const Index flat = to.add(to.scale(to.loop(5, 8), 32), to.loop(6, 32));
  EXPECT_EQ(copy(from.add(from.scale(i, 32), j)), flat);
  EXPECT_EQ(copy(from.divide(from.add(i, j), 3)),
            to.divide(to.add(to.loop(5, 8), to.loop(6, 32)), 3));
  EXPECT_EQ(copy(from.remainder(j, 5)), to.remainder(to.loop(6, 32), 5));
  EXPECT_EQ(copy(from.least(from.add(i, s), 7)),
            to.least(to.add(to.loop(5, 8), to.scalar(2, 0, 99)), 7));
  EXPECT_EQ(copy(from.constant(-4)), to.constant(-4));
}

TEST(IndexCopier, SimplifiesWithWhatIsKnownOfANewLoop) {
  IndexTable from, to;
  const Index i = from.loop(0, 64);
  const Index edge = from.add(from.least(i, 16), from.divide(i, 32));
  IndexCopier copy(from, to);
  copy.set_loop(0, to.loop(3, 16, 32));
  EXPECT_EQ(copy(edge), to.constant(17));
  copy.set_loop(0, to.loop(4, 16));
  EXPECT_EQ(copy(edge), to.loop(4, 16)) << "what was known of the loop before is forgotten";
}

TEST(IndexCopier, GivesScalarsNewNumbersAndTheirOldBounds) {
  IndexTable from, to;
  const Index s = from.scalar(2, 0, 99);
  IndexCopier copy(from, to);
  copy.set_scalars([](std::uint32_t old) { return old + 10; });
  EXPECT_EQ(copy(from.add(s, 1)), to.add(to.scalar(12, 0, 99), 1));
  EXPECT_EQ(to[copy(s)].high, 99);
  copy.set_loop(5, to.loop(6, 8));
  EXPECT_EQ(copy(from.scalar(2, 0, 99, from.loop(5, 8))), to.scalar(12, 0, 99, to.loop(6, 8)));
}

TEST(IndexCopier, RefusesALoopThatIsNotKnown) {
  IndexTable from, to;
  const Index i = from.loop(0, 8), j = from.loop(1, 8);
  IndexCopier copy(from, to);
  copy.set_loop(0, to.loop(0, 8));
  EXPECT_EQ(copy(i), to.loop(0, 8));
  EXPECT_THROW(copy(from.add(i, from.divide(j, 2))), InternalError);
}

// A loop becomes a piece of itself, and two become one.
TEST(IndexCopier, RandomExpressionsKeepTheirValues) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    IndexTable from, to;
    const Few outer(random), inner(random);
    std::vector<Index> made = {from.loop(0, outer.extent, outer.first),
                               from.loop(1, inner.extent, inner.first)};
    for (int count = 0; count < 12; ++count)
      made.push_back(Step(random, made.size()).of(from, made));

    const auto skipped = static_cast<std::int64_t>(random()) % outer.extent;
    IndexCopier piece(from, to);
    piece.set_loop(0, to.loop(0, outer.extent - skipped, outer.first + skipped));
    piece.set_loop(1, to.loop(1, inner.extent, inner.first));
    IndexCopier merged(from, to);
    const Index both = to.loop(2, outer.extent * inner.extent);
    merged.set_loop(0, to.add(to.divide(both, inner.extent), outer.first));
    merged.set_loop(1, to.add(to.remainder(both, inner.extent), inner.first));
    for (Index index : made) {
      for (std::int64_t turn = 0; turn < outer.extent * inner.extent; ++turn) {
        const std::int64_t a = outer.first + turn / inner.extent;
        const std::int64_t b = inner.first + turn % inner.extent;
        const std::int64_t wanted = evaluate(from, index, {a, b});
        ASSERT_EQ(evaluate(to, merged(index), {0, 0, turn}), wanted);
        if (a - outer.first < skipped) continue;
        ASSERT_EQ(evaluate(to, piece(index), {a, b}), wanted);
      }
    }
  }
}

}  // namespace
}  // namespace anabranch
