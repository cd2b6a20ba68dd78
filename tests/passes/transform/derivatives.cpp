// Each op's derivative, of random shapes, against central differences in f64; a table that leaves
// an op out is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "derivative_cases.h"
#include "ir/text/print.h"
#include "passes/transform/derivative_rules.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"
#include "tests/support/apply.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using testing::check_derivatives;
using testing::DerivativeCase;
using testing::Example;
using testing::ExampleMaker;

constexpr int examples = 24;

std::vector<DerivativeCase> all_cases() {
  std::vector<DerivativeCase> all;
  for (const auto& part :
       {testing::cases_of_numbers(), testing::cases_of_index_maps(), testing::cases_of_windows(),
        testing::cases_of_reductions(), testing::cases_of_calls()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Example example(const DerivativeCase& of, Dtype dtype, int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  ExampleMaker maker(random, dtype);
  return of.make(maker);
}

// Those of loops and branches are in derivatives_of_loops.cpp, of products in contraction.cpp, of
// factorisations in linear_algebra.cpp.
bool has_cases_elsewhere(Op op) {
  constexpr Op ops[] = {Op::check,  // tests/frontend/trace/check.cpp
                        Op::while_,     Op::case_,
                        Op::dot,        Op::convolution,
                        Op::cholesky,   Op::triangular_solve,
                        Op::lu,         Op::qr,
                        Op::qr_pivoted, Op::householder_product,
                        Op::svd,        Op::eigh,
                        Op::eig,        Op::tridiagonal_solve};
  return std::ranges::find(ops, op) != std::end(ops);
}

TEST(Derivatives, OfEveryOpHaveACase) {
  const std::vector<DerivativeCase> cases = all_cases();
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Op op = static_cast<Op>(i);
    const JvpRule::Kind kind = derivative_rule(op).jvp.kind;
    const bool is_known =
        std::ranges::any_of(cases, [&](const DerivativeCase& each) { return each.op == op; });
    const bool is_needed = kind != JvpRule::Kind::none && kind != JvpRule::Kind::refused;
    EXPECT_EQ(is_known, is_needed && !has_cases_elsewhere(op)) << name(op);
  }
}

TEST(Derivatives, OfLinearOpsHaveATransposition) {
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const DerivativeRule rule = derivative_rule(static_cast<Op>(i));
    if (rule.jvp.kind != JvpRule::Kind::linear && rule.jvp.kind != JvpRule::Kind::multilinear &&
        rule.jvp.kind != JvpRule::Kind::with_regions) {
      continue;
    }
    EXPECT_NE(rule.transpose, nullptr) << name(static_cast<Op>(i));
  }
}

class DerivativesOf : public ::testing::TestWithParam<DerivativeCase> {};

TEST_P(DerivativesOf, AreThoseOfDifferences) {
  const DerivativeCase& of = GetParam();
  for (Dtype dtype : {f64, c128}) {
    if (!(of.dtypes & (dtype == f64 ? DerivativeCase::real : DerivativeCase::complex))) continue;
    for (int seed = 0; seed < examples; ++seed) {
      const Example tested = example(of, dtype, seed);
      std::mt19937 random(static_cast<unsigned>(seed));
      check_derivatives(tested.graph, tested.inputs, random,
                        of.name + ", seed " + std::to_string(seed) + "\n" + to_string(tested.graph),
                        {.tolerance = 2e-6, .order = of.order, .fixed = tested.fixed});
      ASSERT_FALSE(HasFailure());
    }
  }
}

// --- narrower numbers ----------------------------------------------------------------------------

Literal converted(const Literal& literal, Dtype dtype) {
  const Type type{dtype, literal.type().shape};
  return literal.type() == type ? literal : apply(Op::convert, {literal}, NoAttributes{}, type);
}

// With the cotangents or tangents behind them, of which all are 1.
std::vector<Literal> with_ones(std::vector<Literal> inputs, const Graph& graph) {
  while (inputs.size() < graph.parameter_count()) {
    const Type type = graph.parameter_type(inputs.size());
    const std::vector<double> ones(static_cast<std::size_t>(type.size()), 1.0);
    inputs.push_back(converted(Literal::of(std::span<const double>(ones), type.shape), type.dtype));
  }
  return inputs;
}

std::vector<Literal> gradients(const Example& of, const std::vector<bool>& active) {
  const ForwardAndLinear pulled = vjp(of.graph, active);
  std::vector<Literal> forward = interpret(pulled.forward, of.inputs);
  forward.erase(forward.begin(),
                forward.begin() + static_cast<std::ptrdiff_t>(of.graph.outputs().size()));
  return interpret(pulled.linear, with_ones(std::move(forward), pulled.linear));
}

void expect_close(const Literal& narrow, const Literal& wide, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(narrow.type().shape, wide.type().shape) << what;
  const Literal x = converted(narrow, f64), y = converted(wide, f64);
  for (std::size_t i = 0; i < x.values<double>().size(); ++i) {
    const double wanted = y.values<double>()[i];
    if (!std::isfinite(wanted)) continue;
    ASSERT_LE(std::abs(x.values<double>()[i] - wanted), tolerance * std::max(1.0, std::abs(wanted)))
        << what << ", element " << i << ": " << x.values<double>()[i] << " for " << wanted;
  }
}

TEST_P(DerivativesOf, HaveTheDtypeOfWhatTheyAreOf) {
  const DerivativeCase& of = GetParam();
  if (!(of.dtypes & DerivativeCase::real)) return;
  const std::pair<Dtype, double> dtypes[] = {{f32, 1e-4}, {f16, 0.06}, {bf16, 0.4}};
  for (const auto& [dtype, tolerance] : dtypes) {
    if (dtype != f32 && !of.narrow) continue;
    for (int seed = 0; seed < examples; ++seed) {
      const Example narrow = example(of, dtype, seed);
      Example wide = example(of, f64, seed);
      std::vector<bool> active;
      for (std::size_t i = 0; i < narrow.inputs.size(); ++i) {
        active.push_back(has_tangent(narrow.inputs[i].type().dtype) &&
                         std::ranges::count(narrow.fixed, i) == 0);
        wide.inputs[i] = converted(narrow.inputs[i], wide.inputs[i].type().dtype);
      }
      const std::string what = of.name + " of " + std::string(name(dtype)) + ", seed " +
                               std::to_string(seed) + "\n" + to_string(narrow.graph);
      const Jvp pushed = jvp(narrow.graph, active), wide_pushed = jvp(wide.graph, active);
      const auto tangents = interpret(pushed.graph, with_ones(narrow.inputs, pushed.graph));
      const auto wanted = interpret(wide_pushed.graph, with_ones(wide.inputs, wide_pushed.graph));
      ASSERT_EQ(tangents.size(), wanted.size());
      for (std::size_t i = narrow.graph.outputs().size(), own = 0; i < tangents.size(); ++i) {
        while (!pushed.active[own]) ++own;
        ASSERT_EQ(tangents[i].type(), narrow.graph.output_type(own++)) << what;
        expect_close(tangents[i], wanted[i], tolerance, "tangent, " + what);
      }
      const auto pulled = gradients(narrow, active), wide_pulled = gradients(wide, active);
      for (std::size_t i = 0, own = 0; i < pulled.size(); ++i) {
        while (!active[own]) ++own;
        ASSERT_EQ(pulled[i].type(), narrow.inputs[own++].type()) << what;
        expect_close(pulled[i], wide_pulled[i], tolerance, "gradient, " + what);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Op, DerivativesOf, ::testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name; });

// What is converted has its tangent converted, and its cotangent converted back.
TEST(Derivatives, OfConversionsBetweenAllDtypes) {
  for (Dtype from : {f16, bf16, f32, f64, c64, c128}) {
    for (Dtype to : {f16, bf16, f32, f64, c64, c128}) {
      GraphBuilder builder;
      const Value x = builder.parameter({from, {3}});
      const Graph graph =
          builder.build({builder.add(Op::convert, {x}, NoAttributes{}, Type{to, {3}})});
      std::mt19937 random(1);
      const Literal input = testing::spread_numbers({from, {3}}, random);
      const Literal tangent = testing::spread_numbers({from, {3}}, random);
      const Literal cotangent = testing::spread_numbers({to, {3}}, random);
      EXPECT_EQ(interpret(jvp(graph, {true}).graph, std::vector{input, tangent})[1],
                converted(tangent, to));
      EXPECT_EQ(interpret(vjp(graph, {true}).linear, std::vector{cotangent})[0],
                converted(cotangent, from));
    }
  }
}

}  // namespace
}  // namespace anabranch
