#include "ir/scalar_index.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text/parse.h"

namespace anabranch {
namespace {

/// The last value of `lines` as an expression of %0, an integer scalar of `dtype` that is 3 + a
/// loop's index below 10: its range, or "none".
std::string range_of(const std::string& lines, const std::string& result,
                     const std::string& dtype = "i32") {
  const Graph graph = parse("graph(%0: " + dtype + "[], %1: " + dtype + "[]) {\n" + lines +
                            "\nreturn " + result + " }");
  IndexTable table;
  const Index counter = table.add(table.loop(0, 10), 3);
  const auto known = [&](Value value) -> std::optional<Index> {
    return value == Value{0, 0} ? std::optional(counter) : std::nullopt;
  };
  const auto found = scalar_index(graph, graph.outputs()[0], known, table);
  if (!found) return "none";
  const IndexTable::Expression& expression = table[*found];
  return std::to_string(expression.low) + " to " + std::to_string(expression.high) + " by " +
         std::to_string(table.factor(*found, 0));
}

TEST(ScalarIndex, IsArithmeticOfWhatIsKnown) {
  EXPECT_EQ(range_of("", "%0"), "3 to 12 by 1");
  EXPECT_EQ(range_of("%2: i32[] = constant 20\n%3: i32[] = subtract %2, %0", "%3"),
            "8 to 17 by -1");
  EXPECT_EQ(range_of("%2: i32[] = negate %0\n%3: i32[] = multiply %2, %2", "%2"),
            "-12 to -3 by -1");
  EXPECT_EQ(range_of("%2: i32[] = constant 5\n%3: i32[] = multiply %2, %0", "%3"), "15 to 60 by 5");
  EXPECT_EQ(range_of("%2: i64[] = convert %0\n%3: i64[] = add %2, %2", "%3"), "6 to 24 by 2");
}

TEST(ScalarIndex, ChoosesWhereTheChoiceIsKnown) {
  const std::string zero = "%2: i32[] = constant 0\n", twenty = "%3: i32[] = constant 20\n";
  EXPECT_EQ(range_of(zero + twenty +
                         "%4: bool[] = compare %0, %2 direction=lt\n"
                         "%5: i32[] = add %0, %3\n%6: i32[] = select %4, %5, %0",
                     "%6"),
            "3 to 12 by 1");
  EXPECT_EQ(range_of(zero + twenty + "%4: i32[] = clamp %2, %0, %3", "%4"), "3 to 12 by 1");
  EXPECT_EQ(range_of(zero + "%3: i32[] = maximum %0, %2", "%3"), "3 to 12 by 1");
  EXPECT_EQ(range_of(zero + "%3: i32[] = minimum %0, %2", "%3"), "0 to 0 by 0");
  EXPECT_EQ(range_of(twenty + "%4: i32[] = minimum %0, %3", "%4"), "3 to 12 by 1");
}

TEST(ScalarIndex, IsNothingElsewhere) {
  EXPECT_EQ(range_of("", "%1"), "none");
  EXPECT_EQ(range_of("%2: i32[] = add %0, %1", "%2"), "none");
  EXPECT_EQ(range_of("%2: i32[] = multiply %0, %0", "%2"), "none");
  EXPECT_EQ(range_of("%2: i32[] = constant 7\n%3: i32[] = maximum %0, %2", "%3"), "none");
  EXPECT_EQ(range_of("%2: i32[] = constant 7\n%3: bool[] = compare %0, %2 direction=lt\n"
                     "%4: i32[] = select %3, %2, %0",
                     "%4"),
            "none");
  // What would wrap around.
  EXPECT_EQ(range_of("%2: i8[] = constant 120\n%3: i8[] = add %0, %2", "%3", "i8"), "none");
  EXPECT_EQ(range_of("%2: u8[] = constant 5\n%3: u8[] = subtract %0, %2", "%3", "u8"), "none");
}

}  // namespace
}  // namespace anabranch
