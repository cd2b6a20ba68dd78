// Derivatives of functions that are put together of branches, in both modes, against differences in
// f64: at the ends of branches, at zeros and integers, where a branch that is not taken may have no
// derivative.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support/values.h"

namespace {

using ab::Array;
using Function = std::function<Array(Array)>;
using Points = std::vector<double>;

struct Case {
  const char* name;
  Function function;
  Points points;
  bool is_smooth = true;  // where it has second derivatives, too
};

Array at(const Points& points) { return ab::array(points, {std::ssize(points)}); }

Points values_of(const Function& f, const Points& points) { return doubles(f(at(points))); }

Function gradient_of(const Function& f) {
  return [f](Array x) { return ab::grad([f](Array y) { return ab::sum(f(y)); })(x); };
}

Function pushed(const Function& f) {
  return [f](Array x) {
    return std::get<1>(ab::jvp(f, std::tuple{x}, std::tuple{ab::ones(ab::f64, x.shape())}));
  };
}

// By five points (Abramowitz and Stegun 25.3.6).
Points differences(const Function& f, const Points& points) {
  const auto moved = [&](double steps) {
    Points all;
    for (double x : points) all.push_back(x + steps * 1e-3 * std::max(std::fabs(x), 0.1));
    return all;
  };
  const Points below2 = values_of(f, moved(-2)), below = values_of(f, moved(-1));
  const Points above = values_of(f, moved(1)), above2 = values_of(f, moved(2));
  Points slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double step = 1e-3 * std::max(std::fabs(points[i]), 0.1);
    slopes.push_back((below2[i] - 8 * below[i] + 8 * above[i] - above2[i]) / (12 * step));
  }
  return slopes;
}

void expect_slopes(const std::string& what, const Points& points, const Points& found,
                   const Points& wanted) {
  ASSERT_EQ(found.size(), points.size()) << what;
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], 1e-6 * std::max(1.0, std::fabs(wanted[i])))
        << what << " at " << points[i];
  }
}

void expect_derivatives(const Case& given) {
  const auto& [name, f, points, is_smooth] = given;
  const Points wanted = differences(f, points);
  expect_slopes(std::string(name) + ", reverse", points, values_of(gradient_of(f), points), wanted);
  expect_slopes(std::string(name) + ", forward", points, values_of(pushed(f), points), wanted);
  if (!is_smooth) return;
  const Function first = gradient_of(f);
  expect_slopes(std::string(name) + ", twice", points, values_of(gradient_of(first), points),
                differences(first, points));
}

#define UNARY(function, ...)                                        \
  {                                                                 \
#function, [](Array x) { return ab::function(x); }, __VA_ARGS__ \
  }
// By the first operand, and by the second.
#define FIRST(function, other, ...)                                                      \
  {                                                                                      \
#function "(x, " #other ")",                                                         \
        [](Array x) { return ab::function(x, ab::scalar(other, ab::f64)); }, __VA_ARGS__ \
  }
#define SECOND(function, other, ...)                                                     \
  {                                                                                      \
#function "(" #other ", x)",                                                         \
        [](Array x) { return ab::function(ab::scalar(other, ab::f64), x); }, __VA_ARGS__ \
  }

const Points around_zero = {-20, -9,   -8,  -4, -3, -1, -0.75, -0.5, -0.25,
                            0,   0.25, 0.5, 1,  3,  8,  9,     20};
const Points positive = {0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 7, 7.5, 8, 8.5, 9, 20, 100};
const Points no_poles = {-2.5, -1.5, -0.75, -0.5, -0.25, 0.25, 0.5, 1, 1.5, 2, 3, 7.5, 8, 9, 20};
const Points parts = {0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 0.9, 0.95};

TEST(GradOfBranches, OfOneOperand) {
  const Case cases[] = {
      UNARY(erfc, {-3, -0.5, -0.25, 0, 0.25, 0.5, 1, 3}),
      UNARY(erfcx, {-2, -0.5, 0, 0.5, 1, 30, 100, 1000}),
      UNARY(ndtr, {-3, -0.5, -0.25, 0, 0.25, 0.5, 1, 3}),
      UNARY(log_ndtr, {-100, -9, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 3}),
      UNARY(ndtri, parts),
      UNARY(gamma, no_poles),
      UNARY(lgamma, no_poles),
      UNARY(digamma, no_poles),
      UNARY(bessel_i0, {-9, -8, -3, 0, 0.5, 3, 8, 9}),
      UNARY(bessel_i1, {-9, -8, -3, 0, 0.5, 3, 8, 9}),
      UNARY(bessel_i0e, {-9, -8, -3, 0.5, 3, 8, 9, 1000}),
      UNARY(bessel_i1e, {-9, -8, -3, 0.5, 3, 8, 9, 1000}),
      UNARY(logit, parts),
      UNARY(entr, positive),
      UNARY(sinc, around_zero),
      UNARY(log2, positive),
      UNARY(elu, {-1000, -1, -0.25, 0.25, 1, 1000}),
      UNARY(celu, {-1000, -1, -0.25, 0.25, 1, 1000}),
      UNARY(selu, {-1000, -1, -0.25, 0.25, 1, 1000}),
      UNARY(mish, around_zero),
      UNARY(softplus, around_zero),
      UNARY(log_sigmoid, around_zero),
      {"frexp", [](Array x) { return ab::frexp(x).mantissa * x; }, {-9, -3, -0.75, 0.3, 3, 100}},
      {"ldexp", [](Array x) { return ab::ldexp(x * x, 3); }, around_zero},
  };
  for (const Case& given : cases) expect_derivatives(given);
}

TEST(GradOfBranches, OfTwoOperands) {
  const Case cases[] = {
      FIRST(hypot, 2, around_zero),
      FIRST(logaddexp, 3, around_zero),
      SECOND(logaddexp, 3, around_zero),
      FIRST(logaddexp2, 3, around_zero),
      SECOND(logaddexp2, 3, around_zero),
      FIRST(xlogy, 2.5, around_zero),
      SECOND(xlogy, 0, positive),
      FIRST(xlog1py, 2.5, around_zero),
      SECOND(xlog1py, 0, positive),
      FIRST(rel_entr, 2.5, positive),
      SECOND(rel_entr, 2.5, positive),
      SECOND(rel_entr, 0, positive),
      FIRST(kl_divergence, 2.5, positive),
      SECOND(kl_divergence, 0, positive),
      FIRST(beta, 3, positive),
      FIRST(betaln, 2.5, positive),
      FIRST(betaln, 2, {-3.7, -2.5, -1.5}),
      FIRST(betaln, 3, positive),
      FIRST(betaln, 9, positive),
      SECOND(zeta, 3, positive),
      SECOND(polygamma, 1, positive),
      SECOND(polygamma, 3, positive),
      SECOND(gammainc, 2.5, positive),
      SECOND(gammainc, 8, positive),
      SECOND(gammaincc, 3, positive),
  };
  for (const Case& given : cases) expect_derivatives(given);
}

// Of loops that end once the value has converged, which the derivative does about then.
TEST(GradOfBranches, OfSeries) {
  const Case cases[] = {
      FIRST(gammainc, 0.5, {0.01, 0.1, 0.3, 0.5, 1, 3, 8, 9}, false),
      FIRST(gammainc, 3, {0.1, 0.5, 1, 2, 3, 7.5, 8, 9}, false),
      FIRST(gammaincc, 3, {0.1, 0.5, 1, 2, 3, 7.5, 8, 9}, false),
      {"betainc(x, 3, 0.3)",
       [](Array x) { return ab::betainc(x, 3.0, 0.3); },
       {0.5, 1, 2.5, 3, 8, 9},
       false},
      {"betainc(2, x, 0.7)",
       [](Array x) { return ab::betainc(2.0, x, 0.7); },
       {0.5, 1, 2.5, 3, 8, 9},
       false},
      {"betainc(2.5, 3, x)", [](Array x) { return ab::betainc(2.5, 3.0, x); }, parts, false},
  };
  for (const Case& given : cases) expect_derivatives(given);
}

TEST(GradOfBranches, OfLengthsOfZero) {
  const auto similarity = [](Array x) { return ab::cosine_similarity(x, ab::ones(ab::f64, {3})); };
  for (double slope : doubles(ab::grad(similarity)(ab::zeros(ab::f64, {3})))) {
    EXPECT_TRUE(std::isfinite(slope));
  }
  const auto length = [](Array x, Array y) { return ab::hypot(x, y); };
  const Array zero = ab::scalar(0.0, ab::f64);
  EXPECT_EQ(doubles(ab::grad(length)(zero, zero))[0], 0);
}

// Half each where both are equal.
TEST(GradOfBranches, OfEqualOperands) {
  for (double x : {-300.0, 0.0, 2.5}) {
    const auto sum = [](Array a, Array b) { return ab::logaddexp(a, b); };
    const Array both = ab::scalar(x, ab::f64);
    EXPECT_EQ(doubles(ab::grad(sum)(both, both))[0], 0.5);
    EXPECT_EQ(doubles(ab::grad(sum, ab::argument(1))(both, both))[0], 0.5);
  }
}

TEST(SpecialDerivatives, AreThoseOfTheBranchThatIsTaken) {
  for (const ab::Dtype dtype : {ab::f32, ab::f64}) {
    const Array x = ab::array({1e-17, 0.0, 1.0}).astype(dtype);
    for (const Points& slopes :
         {doubles(gradient_of(ab::logit)(x)),
          doubles(std::get<1>(ab::jvp([](Array y) { return ab::logit(y); }, std::tuple{x},
                                      std::tuple{ab::ones_like(x)})))}) {
      EXPECT_NEAR(slopes[0], 1e17, 1e11);
      EXPECT_EQ(slopes[1], std::numeric_limits<double>::infinity());
      EXPECT_EQ(slopes[2], std::numeric_limits<double>::infinity());
    }
  }
  EXPECT_EQ(doubles(gradient_of(ab::entr)(at({0}))), Points{0});
  for (const double p : {1e-300, 1e-17, 0.25}) {
    const double x = values_of(ab::ndtri, {p})[0];
    const double slope = std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
    EXPECT_NEAR(values_of(gradient_of(ab::ndtri), {p})[0] / slope, 1, 1e-6) << p;
  }
}

}  // namespace
