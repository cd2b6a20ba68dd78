// Which loops are pointwise, and why others are not.
#include "ir/pointwise_loop.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text/parse.h"

namespace anabranch {
namespace {

/// A loop of %0: i64 from 0, %1: f32[8], %2: f32[5,8], %3: f32[], and captured %4: f32[5,8], while
/// %0 < 5. `body` writes what it hands on after the counter, from %8 on; %5 is 0, %6 is 1, %7 the
/// next count.
std::string loop(const std::string& body, const std::string& bound = "constant 5") {
  return R"(graph(%0: f32[8], %1: f32[5,8], %2: f32[], %3: f32[5,8]) {
  %4: i64[] = constant 0
  %5: i64[], %6: f32[8], %7: f32[5,8], %8: f32[] = while %4, %0, %1, %2, %3 graph c(%0: i64[], %1: f32[8], %2: f32[5,8], %3: f32[], %4: f32[5,8]) {
    %5: i64[] = )" +
         bound + R"(
    %6: bool[] = compare %0, %5 direction=lt
    return %6
  } graph b(%0: i64[], %1: f32[8], %2: f32[5,8], %3: f32[], %4: f32[5,8]) {
    %5: i64[] = constant 0
    %6: i64[] = constant 1
    %7: i64[] = add %0, %6
    )" + body +
         R"(
  }
  return %6, %7
})";
}

std::variant<PointwiseLoop, std::string> found(const std::string& text) {
  const Graph graph = parse(text);
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::while_) return pointwise_loop(graph, node);
  }
  return "there is no loop";
}

constexpr const char* running_sums = R"(
    %8: f32[1,8] = dynamic_slice %4, %0, %5 sizes=[1,8]
    %9: f32[8] = reshape %8
    %10: f32[8] = broadcast_in_dim %3 axes=[]
    %11: f32[8] = multiply %9, %10
    %12: f32[8] = add %1, %11
    %13: f32[1,8] = reshape %12
    %14: f32[5,8] = dynamic_update_slice %2, %13, START, %5
    %15: f32[] = negate %3
    return %7, %12, %14, %15)";

std::string with_start(const std::string& start, const std::string& before = "") {
  std::string body = before + running_sums;
  body.replace(body.find("START"), 5, start);
  return loop(body);
}

TEST(PointwiseLoop, SaysWhatIsCarried) {
  const auto made = found(with_start("%0"));
  ASSERT_EQ(made.index(), 0u) << std::get<std::string>(made);
  const auto& pointwise = std::get<PointwiseLoop>(made);
  EXPECT_EQ(pointwise.domain, Shape{8});
  ASSERT_NE(pointwise.counted(), nullptr);
  EXPECT_EQ(pointwise.counted()->count, 5);
  EXPECT_EQ(pointwise.counted()->counter, 0u);
  using enum CarryRole;
  EXPECT_EQ(pointwise.roles, (std::vector{counter, element, stack, uniform}));
  EXPECT_EQ(pointwise.is_covered, (std::vector{false, false, true, false}));
}

bool is_covered(const std::string& start, const std::string& before) {
  const auto made = found(with_start(start, before));
  return made.index() == 0 && std::get<PointwiseLoop>(made).is_covered.at(2);
}

// Turned round, and with JAX's way of counting from the end; not where a place is left out.
TEST(PointwiseLoop, KnowsWhetherEveryElementIsStored) {
  EXPECT_TRUE(is_covered("%30", "%31: i64[] = constant 4\n%30: i64[] = subtract %31, %0\n"));
  EXPECT_TRUE(is_covered("%34",
                         "%31: bool[] = compare %0, %5 direction=lt\n%32: i64[] = constant 5\n"
                         "%33: i64[] = add %0, %32\n%34: i64[] = select %31, %33, %0\n"));
  EXPECT_FALSE(is_covered("%7", ""));
  EXPECT_FALSE(is_covered("%5", ""));
  EXPECT_FALSE(is_covered("%30", "%31: i64[] = constant 2\n%30: i64[] = multiply %31, %0\n"));
  EXPECT_FALSE(is_covered("%31", "%30: i32[] = convert %3\n%31: i64[] = convert %30\n"));
}

/// Of %0: bool[8], %1: f32[8], %2: f32[], and captured %3: f32[8], while %0 holds anywhere. `body`
/// writes what it hands on, from %4 on.
std::string until_all_end(const std::string& body, const std::string& condition = "reduce_any %0") {
  return R"(graph(%0: bool[8], %1: f32[8], %2: f32[], %3: f32[8]) {
  %4: bool[8], %5: f32[8], %6: f32[] = while %0, %1, %2, %3 graph c(%0: bool[8], %1: f32[8], %2: f32[], %3: f32[8]) {
    %4: bool[] = )" +
         condition + R"( axes=[0]
    return %4
  } graph b(%0: bool[8], %1: f32[8], %2: f32[], %3: f32[8]) {
    )" + body +
         R"(
  }
  return %5
})";
}

const std::string squares =
    "%4: f32[8] = multiply %1, %1\n%5: f32[8] = select %0, %4, %1\n"
    "%6: bool[8] = compare %5, %3 direction=lt\n%7: bool[8] = and %0, %6\n";

TEST(PointwiseLoop, GoesOnWhereItsConditionHolds) {
  const auto made = found(until_all_end(squares + "return %7, %5, %2"));
  ASSERT_EQ(made.index(), 0u) << std::get<std::string>(made);
  const auto& pointwise = std::get<PointwiseLoop>(made);
  EXPECT_EQ(pointwise.domain, Shape{8});
  EXPECT_EQ(pointwise.counted(), nullptr);
  EXPECT_EQ(std::get<TurnsWhile>(pointwise.turns).mask, 0u);
  using enum CarryRole;
  EXPECT_EQ(pointwise.roles, (std::vector{element, element, uniform}));
}

/// Of %0: f32[4,4], five times. `body` makes %9 from %1, which is carried.
std::string of_a_square(const std::string& body) {
  return R"(graph(%0: f32[4,4], %1: f32[3]) {
  %2: i64[] = constant 0
  %3: i64[], %4: f32[4,4] = while %2, %0, %1 graph c(%0: i64[], %1: f32[4,4], %2: f32[3]) {
    %3: i64[] = constant 5
    %4: bool[] = compare %0, %3 direction=lt
    return %4
  } graph b(%0: i64[], %1: f32[4,4], %2: f32[3]) {
    %3: i64[] = constant 1
    %4: i64[] = add %0, %3
    )" + body +
         R"(
    return %4, %9
  }
  return %4
})";
}

// Points whose coordinates are along any axis, and what is turned round twice.
TEST(PointwiseLoop, HasAFewElementsForEachPlace) {
  for (const char* body :
       {"%5: f32[4,4,3] = broadcast_in_dim %1 axes=[0,1]\n"
        "%6: f32[4,4,3] = broadcast_in_dim %2 axes=[2]\n"
        "%7: f32[4,4,3] = multiply %5, %6\n%9: f32[4,4] = reduce_sum %7 axes=[2]",
        "%5: f32[3,4,4] = broadcast_in_dim %1 axes=[1,2]\n"
        "%6: f32[3,4,4] = reverse %5 axes=[0]\n"
        "%7: f32[1,4,4] = slice %6 start=[1,0,0] limit=[2,4,4] stride=[1,1,1]\n"
        "%9: f32[4,4] = reshape %7",
        "%5: f32[4,4] = transpose %1 axes=[1,0]\n%6: f32[4,4] = negate %5\n"
        "%9: f32[4,4] = transpose %6 axes=[1,0]"}) {
    const auto made = found(of_a_square(body));
    ASSERT_EQ(made.index(), 0u) << body << ": " << std::get<std::string>(made);
    EXPECT_EQ(std::get<PointwiseLoop>(made).domain, (Shape{4, 4}));
  }
}

struct Refused {
  const char* name;
  std::string text;
  const char* why;
};

class RefusedLoop : public testing::TestWithParam<Refused> {};

TEST_P(RefusedLoop, SaysWhy) {
  const auto made = found(GetParam().text);
  ASSERT_EQ(made.index(), 1u);
  EXPECT_EQ(std::get<std::string>(made), GetParam().why);
}

// A row of %2 is what %1 was.
const std::string stored =
    "%20: f32[1,8] = reshape %1\n%21: f32[5,8] = dynamic_update_slice %2, %20, %0, %5\n";

constexpr const char* endless =
    "its turns are not known before it runs, and no place ends by itself";

const Refused refused[] = {
    {"UnknownTurns", loop(stored + "return %7, %1, %21, %3", "convert %3"), endless},
    {"Neighbours",
     loop(stored + "%8: f32[8] = reverse %1 axes=[0]\n%9: f32[8] = add %1, %8\n"
                   "return %7, %9, %21, %3"),
     "reverse reads a carried array at another place"},
    {"AnElementOfItself",
     loop(stored + "%8: f32[1] = dynamic_slice %1, %0 sizes=[1]\n%9: f32[] = reshape %8\n"
                   "%10: f32[8] = broadcast_in_dim %9 axes=[]\nreturn %7, %10, %21, %3"),
     "dynamic_slice reads a carried array at another place"},
    {"Sum", loop(stored + "%8: f32[] = reduce_sum %1 axes=[0]\nreturn %7, %1, %21, %8"),
     "reduce_sum reads a carried array at another place"},
    {"LongSum",
     loop(stored + "%8: f32[8,17] = broadcast_in_dim %1 axes=[0]\n"
                   "%9: f32[8] = reduce_sum %8 axes=[1]\nreturn %7, %9, %21, %3"),
     "broadcast_in_dim has 17 elements for each place"},
    {"SumOfManyRows", loop(stored + "%8: f32[] = reduce_sum %4 axes=[0,1]\nreturn %7, %1, %21, %8"),
     "reduce_sum is not computed element by element"},
    {"ReadsWhatItStores",
     loop("%8: f32[1,8] = dynamic_slice %2, %5, %5 sizes=[1,8]\n%9: f32[8] = reshape %8\n"
          "%10: f32[8] = add %1, %9\n%11: f32[1,8] = reshape %10\n"
          "%12: f32[5,8] = dynamic_update_slice %2, %11, %0, %5\nreturn %7, %10, %12, %3"),
     "f32[5,8] is carried, and the places are those of [8]"},
    {"AScalarOfArrays",
     loop(stored + "%8: f32[1,8] = reshape %1\n"
                   "%9: f32[1,1] = slice %8 start=[0,0] limit=[1,1] stride=[1,1]\n"
                   "%10: f32[] = reshape %9\nreturn %7, %1, %21, %10"),
     "slice reads a carried array at another place"},
    {"TurnsRound", of_a_square("%9: f32[4,4] = transpose %1 axes=[1,0]"),
     "it carries elements to other places"},
    {"AddsWhatIsTurnedRound",
     of_a_square("%5: f32[4,4] = transpose %1 axes=[1,0]\n%9: f32[4,4] = add %1, %5"),
     "add reads a carried array at another place"},
    {"SumsOverPlaces",
     of_a_square("%5: f32[4] = reduce_sum %1 axes=[1]\n"
                 "%9: f32[4,4] = broadcast_in_dim %5 axes=[0]"),
     "reduce_sum reads a carried array at another place"},
    {"GoesOnAgain", until_all_end(squares + "return %6, %5, %2"), endless},
    {"GoesOnBeyondItsEnd", until_all_end(squares + "return %7, %4, %2"), endless},
    {"KeepsSomethingElse",
     until_all_end(squares + "%8: f32[8] = select %0, %4, %3\nreturn %7, %8, %2"), endless},
    {"KeepsWhereItGoesOn",
     until_all_end(squares + "%8: f32[8] = select %0, %1, %4\nreturn %7, %8, %2"), endless},
    {"GoesBySomethingElse",
     until_all_end(squares + "%8: f32[8] = select %6, %4, %1\nreturn %7, %8, %2"), endless},
    {"CountsAllTurns", until_all_end(squares + "%8: f32[] = add %2, %2\nreturn %7, %5, %8"),
     endless},
    {"UntilAPlaceEnds", until_all_end(squares + "return %7, %5, %2", "reduce_all %0"), endless},
};

INSTANTIATE_TEST_SUITE_P(Table, RefusedLoop, testing::ValuesIn(refused),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace anabranch
