// Each op's derivative, of random shapes, against central differences in f64.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ir/graph/builder.h"
#include "ir/text/parse.h"
#include "passes/transform/jvp.h"
#include "passes/transform/jvp_rules.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using testing::check_derivatives;
using testing::DerivativeCheck;
using testing::spread_numbers;

constexpr int shapes = 20;

Shape random_shape(std::mt19937& random, int most_axes = 3) {
  std::vector<std::int64_t> sizes(random() % static_cast<unsigned>(most_axes + 1));
  for (auto& size : sizes) size = static_cast<std::int64_t>(random() % 5);
  return Shape(std::move(sizes));
}

// Where a function of one number is smooth.
std::pair<double, double> domain(Op op) {
  switch (op) {
    case Op::sqrt:
    case Op::rsqrt:
    case Op::log:
    case Op::cbrt:
      return {0.3, 3};
    case Op::log_plus_one:
      return {-0.7, 3};
    case Op::asin:
    case Op::acos:
    case Op::atanh:
    case Op::erf_inv:
      return {-0.8, 0.8};
    case Op::acosh:
      return {1.2, 3};
    case Op::abs:
    case Op::sign:
      return {0.1, 2};
    default:
      return {-1.4, 1.4};
  }
}

bool is_smooth_unary(const OpInfo& row, Op op) {
  return row.arity == 1 && is_elementwise(row) && jvp_rule(op).kind != JvpRule::Kind::none &&
         op != Op::convert;
}

TEST(Derivatives, OfFunctionsOfOneNumber) {
  std::mt19937 random(1);
  int tried = 0;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& row = all_ops()[i];
    if (!is_smooth_unary(row, op)) continue;
    for (Dtype dtype : {f64, c128}) {
      if (dtype == f64 ? row.has(OpInfo::complex_only)
                       : !row.has(OpInfo::takes_complex) && !row.has(OpInfo::complex_only)) {
        continue;
      }
      ++tried;
      for (int k = 0; k < shapes; ++k) {
        const Type type{dtype, random_shape(random)};
        GraphBuilder builder;
        const Value x = builder.parameter(type);
        const Graph graph = builder.build({builder.add(op, {x})});
        const auto [low, high] = domain(op);
        check_derivatives(graph, {spread_numbers(type, random, low, high)}, random,
                          std::string(row.name), {.tolerance = 1e-6, .order = 2});
        ASSERT_FALSE(HasFailure()) << row.name << " of " << to_string(type);
      }
    }
  }
  EXPECT_GT(tried, 40);
}

// Graphs as text; parameters are drawn from -2 to 2, integers from 0 to 3.
struct Case {
  const char* text;
  DerivativeCheck check = {};
  double low = -2, high = 2;
};

Literal drawn(const Type& type, const Case& from, std::mt19937& random) {
  if (has_tangent(type.dtype)) return spread_numbers(type, random, from.low, from.high);
  return spread_numbers(type, random, 0, type.dtype == bool_ ? 1.999 : 3.999);
}

void check_case(const Case& given, int times, unsigned seed) {
  const Graph graph = parse(given.text);
  std::mt19937 random(seed);
  for (int k = 0; k < times; ++k) {
    std::vector<Literal> inputs;
    for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
      inputs.push_back(drawn(graph.parameter_type(i), given, random));
    }
    check_derivatives(graph, inputs, random, given.text, given.check);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(Derivatives, OfLoops) {
  const Case cases[] = {
      // A power by a counted loop.
      {R"(graph f(%0: f64[3], %1: f64[3]) {
  %2: i64[] = constant 0
  %3: i64[], %4: f64[3] = while %2, %0, %1
    graph condition(%0: i64[], %1: f64[3], %2: f64[3]) {
      %3: i64[] = constant 4
      %4: bool[] = compare %0, %3 direction=lt
      return %4
    }
    graph body(%0: i64[], %1: f64[3], %2: f64[3]) {
      %3: i64[] = constant 1
      %4: i64[] = add %0, %3
      %5: f64[3] = multiply %1, %2
      %6: f64[3] = sine %5
      return %4, %6
    }
  return %4
})",
       {.order = 2}},
      // Until it is above a bound: the number of turns is known when it has run.
      {R"(graph f(%0: f64[], %1: f64[]) {
  %2: f64[] = while %0, %1
    graph condition(%0: f64[], %1: f64[]) {
      %2: f64[] = constant 40
      %3: bool[] = compare %0, %2 direction=lt
      return %3
    }
    graph body(%0: f64[], %1: f64[]) {
      %2: f64[] = multiply %0, %1
      %3: f64[] = multiply %0, %0
      %4: f64[] = sqrt %3
      %5: f64[] = add %4, %2
      return %5
    }
  return %2
})",
       {.order = 1},
       0.05,
       0.6},
  };
  unsigned seed = 3;
  for (const Case& each : cases) check_case(each, 5, ++seed);
}

}  // namespace
}  // namespace anabranch
