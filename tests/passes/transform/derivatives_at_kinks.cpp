// Where a function has no derivative, or several: which one it is given, forward and backward.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"
#include "tests/support/apply.h"

namespace anabranch {
namespace {

using Numbers = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();

// A function of %0, of `type`: the gradient of <`weights`, result>. Integers follow as constants.
struct Kink {
  const char* name;
  std::string type, body, result;
  Numbers at, gradient, weights = {};
};

void PrintTo(const Kink& kink, std::ostream* out) { *out << kink.name; }

Literal literal(const Type& type, const Numbers& numbers) {
  return Literal::of(std::span<const double>(numbers), type.shape);
}

Numbers numbers(const Literal& literal) {
  const auto values = literal.values<double>();
  return {values.begin(), values.end()};
}

void expect_equal(const Numbers& found, const Numbers& wanted, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_DOUBLE_EQ(found[i], wanted[i]) << what << ", element " << i;
  }
}

class DerivativesAtKinks : public ::testing::TestWithParam<Kink> {};

TEST_P(DerivativesAtKinks, AreTheOnesThatTheyAreGiven) {
  const Kink& kink = GetParam();
  const Graph graph =
      parse("graph f(%0: " + kink.type + ") {\n" + kink.body + "\nreturn " + kink.result + "\n}");
  const Type &from = graph.parameter_type(0), to = graph.output_type(0);
  const Literal x = literal(from, kink.at);
  const ForwardAndLinear pulled = vjp(graph, {true});
  std::vector<Literal> operands = interpret(pulled.forward, std::vector{x});
  operands.erase(operands.begin());
  Numbers weights = kink.weights;
  if (weights.empty()) weights.assign(static_cast<std::size_t>(to.size()), 1.0);
  if (pulled.active[0]) operands.push_back(literal(to, weights));
  expect_equal(numbers(interpret(pulled.linear, operands)[0]), kink.gradient, "gradient");

  const Graph pushed = jvp(graph, {true}, {true}).graph;
  for (std::size_t i = 0; i < kink.at.size(); ++i) {
    Numbers direction(kink.at.size());
    direction[i] = 1;
    const Literal tangent = interpret(pushed, std::vector{x, literal(from, direction)})[1];
    double along = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) along += weights[k] * numbers(tangent)[k];
    EXPECT_DOUBLE_EQ(along, kink.gradient[i]) << "tangent along element " << i;
  }
}

const std::string halves = R"(%1: f64[2] = slice %0 start=[0] limit=[2] stride=[1]
%2: f64[2] = slice %0 start=[2] limit=[4] stride=[1])";
const std::string thirds = R"(%1: f64[2] = slice %0 start=[0] limit=[2] stride=[1]
%2: f64[2] = slice %0 start=[2] limit=[4] stride=[1]
%3: f64[2] = slice %0 start=[4] limit=[6] stride=[1])";

// A scatter of the last two elements to the first two.
std::string scatter(const std::string& combiner, const std::string& places) {
  return halves + "\n%3: i64[2,1] = constant " + places +
         "\n%4: f64[2] = scatter %1, %3, %2 inserted_axes=[0] start_axes=[0] "
         "index_vector_axis=1 combiner=" +
         combiner;
}

const Kink kinks[] = {
    {"abs", "f64[4]", "%1: f64[4] = abs %0", "%1", {-1, -0.0, 0, 2}, {-1, 0, 0, 1}},
    {"abs_of_complex",
     "f64[4]",
     halves + "\n%3: c128[2] = complex %1, %2\n%4: f64[2] = abs %3",
     "%4",
     {0, 3, 0, 4},
     {0, 0.6, 0, 0.8}},
    {"sign_of_complex",
     "f64[4]",
     halves + "\n%3: c128[2] = complex %1, %2\n%4: c128[2] = sign %3\n%5: f64[2] = real %4",
     "%5",
     {0, 3, 0, 4},
     {0, 0.128, 0, -0.096}},
    {"sign", "f64[3]", "%1: f64[3] = sign %0", "%1", {-1, 0, 2}, {0, 0, 0}},
    {"floor", "f64[3]", "%1: f64[3] = floor %0", "%1", {-1, 0, 2.5}, {0, 0, 0}},
    {"round", "f64[3]", "%1: f64[3] = round_nearest_even %0", "%1", {-1.5, 0, 2.5}, {0, 0, 0}},
    {"sqrt", "f64[1]", "%1: f64[1] = sqrt %0", "%1", {0}, {inf}},
    {"maximum",
     "f64[4]",
     halves + "\n%3: f64[2] = maximum %1, %2",
     "%3",
     {1, 3, 1, 2},
     {0.5, 1, 0.5, 0}},
    {"maximum_of_zeros",
     "f64[4]",
     halves + "\n%3: f64[2] = maximum %1, %2",
     "%3",
     {0, -0.0, -0.0, 0},
     {0.5, 0.5, 0.5, 0.5}},
    {"minimum",
     "f64[4]",
     halves + "\n%3: f64[2] = minimum %1, %2",
     "%3",
     {1, 3, 1, 2},
     {0.5, 0, 0.5, 1}},
    {"maximum_with_itself", "f64[2]", "%1: f64[2] = maximum %0, %0", "%1", {1, -3}, {1, 1}},
    // Low bounds, numbers, high bounds.
    {"clamp_at_its_low_bound",
     "f64[6]",
     thirds + "\n%4: f64[2] = clamp %1, %2, %3",
     "%4",
     {1, 1, 1, 2, 3, 3},
     {0, 0, 0, 1, 0, 0}},
    {"clamp_at_its_high_bound",
     "f64[6]",
     thirds + "\n%4: f64[2] = clamp %1, %2, %3",
     "%4",
     {1, 1, 3, 4, 3, 3},
     {0, 0, 0, 0, 0, 1}},
    {"clamp_below",
     "f64[6]",
     thirds + "\n%4: f64[2] = clamp %1, %2, %3",
     "%4",
     {1, 1, 0, 2, 3, 3},
     {1, 0, 0, 1, 0, 0}},
    {"power_of_zero",
     "f64[4]",
     halves + "\n%3: f64[2] = power %1, %2",
     "%3",
     {0, 0, 1, 2},
     {1, 0, 0, 0}},
    {"power_by_zero",
     "f64[4]",
     halves + "\n%3: f64[2] = power %1, %2",
     "%3",
     {0, 1, 0, 0},
     {0, 0, 0, 0}},
    {"reduce_max",
     "f64[2,3]",
     "%1: f64[2] = reduce_max %0 axes=[1]",
     "%1",
     {3, 1, 3, 2, 2, 2},
     {0.5, 0, 0.5, 10.0 / 3, 10.0 / 3, 10.0 / 3},
     {1, 10}},
    {"reduce_min",
     "f64[2,2]",
     "%1: f64[] = reduce_min %0 axes=[0,1]",
     "%1",
     {1, 2, 1, 3},
     {0.5, 0, 0.5, 0}},
    {"reduce_product_of_one_zero",
     "f64[3]",
     "%1: f64[] = reduce_product %0 axes=[0]",
     "%1",
     {2, 0, 5},
     {0, 10, 0}},
    {"reduce_product_of_zeros",
     "f64[3]",
     "%1: f64[] = reduce_product %0 axes=[0]",
     "%1",
     {0, 3, 0},
     {0, 0, 0}},
    {"cumulative_product",
     "f64[4]",
     "%1: f64[4] = cumulative %0 axis=0 of=product",
     "%1",
     {2, 0, 5, 3},
     {1, 2 + 10 + 30, 0, 0}},
    {"cumulative_maximum",
     "f64[3]",
     "%1: f64[3] = cumulative %0 axis=0 of=maximum",
     "%1",
     {1, 1, 0},
     {1 + 5 + 50, 5 + 50, 0},
     {1, 10, 100}},
    {"cumulative_maximum_of_infinity",
     "f64[3]",
     "%1: f64[3] = cumulative %0 axis=0 of=maximum",
     "%1",
     {-inf, 2, 1},
     {1, 110, 0},
     {1, 10, 100}},
    {"cumulative_minimum_of_infinity",
     "f64[3]",
     "%1: f64[3] = cumulative %0 axis=0 of=minimum reverse=true",
     "%1",
     {1, 2, inf},
     {1, 10, 100},
     {1, 10, 100}},
    // Those that are equal keep their order.
    {"sort",
     "f64[4]",
     "%1: f64[4] = sort %0 axis=0",
     "%1",
     {2, 1, 2, 1},
     {100, 1, 1000, 10},
     {1, 10, 100, 1000}},
    {"sort_descending",
     "f64[4]",
     "%1: f64[4] = sort %0 axis=0 descending=true",
     "%1",
     {2, 1, 2, 1},
     {1, 100, 10, 1000},
     {1, 10, 100, 1000}},
    {"gather_of_the_same",
     "f64[3]",
     "%1: i64[4,1] = constant [[1], [0], [1], [9]]\n"
     "%2: f64[4] = gather %0, %1 collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1]",
     "%2",
     {1, 2, 3},
     {10, 101, 1000},
     {1, 10, 100, 1000}},
    {"scatter_of_the_last",
     "f64[4]",
     scatter("replace", "[[1], [1]]"),
     "%4",
     {1, 2, 3, 4},
     {1, 0, 0, 10},
     {1, 10}},
    {"scatter_of_none",
     "f64[4]",
     scatter("replace", "[[-1], [2]]"),
     "%4",
     {1, 2, 3, 4},
     {1, 10, 0, 0},
     {1, 10}},
    {"scatter_add_to_the_same",
     "f64[4]",
     scatter("add", "[[1], [1]]"),
     "%4",
     {1, 2, 3, 4},
     {1, 10, 10, 10},
     {1, 10}},
    {"scatter_maximum",
     "f64[4]",
     scatter("maximum", "[[1], [1]]"),
     "%4",
     {1, 4, 4, 4},
     {1, 10.0 / 3, 10.0 / 3, 10.0 / 3},
     {1, 10}},
    {"scatter_minimum",
     "f64[4]",
     scatter("minimum", "[[0], [0]]"),
     "%4",
     {5, 4, 2, 2},
     {0, 10, 0.5, 0.5},
     {1, 10}},
    {"scatter_multiply_by_zero",
     "f64[4]",
     scatter("multiply", "[[1], [1]]"),
     "%4",
     {1, 4, 0, 5},
     {1, 0, 200, 0},
     {1, 10}},
};

INSTANTIATE_TEST_SUITE_P(Kink, DerivativesAtKinks, ::testing::ValuesIn(kinks),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace anabranch
