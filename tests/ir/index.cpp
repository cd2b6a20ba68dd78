#include "ir/index.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "ir/error.h"

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

TEST(Index, RandomExpressionsKeepTheirValuesAndRanges) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    IndexTable table;
    const std::vector<std::int64_t> extents = {static_cast<std::int64_t>(1 + random() % 7),
                                               static_cast<std::int64_t>(1 + random() % 13)};
    std::vector<std::vector<std::int64_t>> places;
    for (std::int64_t a = 0; a < extents[0]; ++a) {
      for (std::int64_t b = 0; b < extents[1]; ++b) places.push_back({a, b});
    }
    std::vector<Index> made = {table.loop(0, extents[0]), table.loop(1, extents[1])};
    std::vector<std::vector<std::int64_t>> wanted(2);
    for (const auto& place : places) {
      for (std::size_t k : {0u, 1u}) wanted[k].push_back(place[k]);
    }
    for (int step = 0; step < 12; ++step) {
      const std::size_t a = random() % made.size(), b = random() % made.size();
      const auto number = static_cast<std::int64_t>(1 + random() % 12);
      const unsigned kind = random() % 5;
      const Index next = kind == 0   ? table.add(made[a], made[b])
                         : kind == 1 ? table.scale(made[a], number - 6)
                         : kind == 2 ? table.divide(made[a], number)
                         : kind == 3 ? table.remainder(made[a], number)
                                     : table.least(made[a], number);
      std::vector<std::int64_t> values;
      for (std::size_t p = 0; p < places.size(); ++p) {
        const std::int64_t x = wanted[a][p];
        values.push_back(kind == 0   ? x + wanted[b][p]
                         : kind == 1 ? x * (number - 6)
                         : kind == 2 ? floor_divide(x, number)
                         : kind == 3 ? x - number * floor_divide(x, number)
                                     : std::min(x, number));
        ASSERT_EQ(evaluate(table, next, places[p]), values[p]);
        ASSERT_GE(values[p], table[next].low);
        ASSERT_LE(values[p], table[next].high);
      }
      made.push_back(next);
      wanted.push_back(std::move(values));
    }
  }
}

}  // namespace
}  // namespace anabranch
