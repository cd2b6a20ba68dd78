// The special functions against their series in quadruple precision, in every float dtype.
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tests/support/special_reference.h"
#include "tests/support/ulp.h"
#include "tests/support/values.h"

namespace {

using anabranch::test::Quad;
namespace reference = anabranch::test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

using Function = std::function<ab::Array(const ab::Array&)>;
using Reference = std::function<Quad(Quad)>;

// Numbers between the two, evenly and by their logarithms, and whole and half ones.
std::vector<double> spread(double low, double high) {
  std::mt19937_64 generator(7);
  std::vector<double> values;
  std::uniform_real_distribution<double> even(low, high);
  for (int i = 0; i < 1500; ++i) values.push_back(even(generator));
  for (double sign : {-1.0, 1.0}) {
    const double largest = sign * (sign < 0 ? low : high);
    if (largest <= 0) continue;
    std::uniform_real_distribution<double> exponent(std::log(1e-30), std::log(largest));
    for (int i = 0; i < 700; ++i) values.push_back(sign * std::exp(exponent(generator)));
  }
  for (double x = -20; x <= 20; x += 0.5) values.push_back(x);
  std::erase_if(values, [&](double x) { return !(x >= low && x <= high); });
  return values;
}

std::vector<double> every(std::size_t step, const std::vector<double>& values) {
  std::vector<double> some;
  for (std::size_t i = 0; i < values.size(); i += step) some.push_back(values[i]);
  return some;
}

struct Worst {
  double error = 0, at = 0, got = 0;
};

// The greatest error in units in the last place of the reference, or of what `scale` gives where
// that is greater.
template <class T>
Worst worst_error(const Function& function, const Reference& truth, const Reference& scale,
                  const std::vector<double>& points) {
  const std::vector<T> xs(points.begin(), points.end());
  const std::vector<T> got =
      ab::jit([&] { return function(ab::array(xs)); })().template to_vector<T>();
  Worst worst;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Quad expected = truth(Quad(xs[i]));
    double error = reference::ulp_error<T, Quad>(got[i], expected);
    if (scale && std::isfinite(got[i])) {
      const Quad shift = fabsq(scale(Quad(xs[i])));
      if (shift > fabsq(expected)) {
        const T unit = std::nextafter(T(shift), T(inf)) - T(shift);
        error = double(fabsq(Quad(got[i]) - expected) / Quad(unit));
      }
    }
    if (!(error <= worst.error)) worst = {error, double(xs[i]), double(got[i])};
  }
  return worst;
}

template <class T>
void expect_within(double bound, const char* name, const Function& function, const Reference& truth,
                   const std::vector<double>& points, const Reference& scale = {}) {
  const Worst worst = worst_error<T>(function, truth, scale, points);
  if (std::getenv("SPECIAL_ERRORS")) {
    std::printf("%-12s %s %.2f at %.17g: %.17g\n", name, sizeof(T) == 4 ? "f32" : "f64",
                worst.error, worst.at, worst.got);
  }
  EXPECT_LE(worst.error, bound) << name << " of " << worst.at << " gives " << worst.got;
}

// Narrow floats: the nearest number to the truth, or its neighbour.
void expect_rounded(const char* name, const Function& function, const Reference& truth,
                    const std::vector<double>& points) {
  for (ab::Dtype dtype : {ab::f16, ab::bf16}) {
    const ab::Array xs = ab::array(points).astype(dtype);
    const std::vector<float> in = xs.astype(ab::f32).to_vector<float>();
    const ab::Array result = ab::jit([&] { return function(xs); })();
    ASSERT_EQ(result.dtype(), dtype) << name;
    const std::vector<double> got = doubles(result);
    const double unit = std::ldexp(1, 1 - ab::info(dtype).precision);
    const double least = dtype == ab::f16 ? 0x1p-24 : 0x1p-133,
                 most = dtype == ab::f16 ? 65504 : 3e38;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto expected = static_cast<double>(truth(Quad(in[i])));
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got[i])) << name << " of " << in[i];
      } else if (std::fabs(expected) > most) {
        EXPECT_GE(std::fabs(got[i]), most * 0.99) << name << " of " << in[i];
      } else {
        EXPECT_NEAR(got[i], expected, unit * std::fabs(expected) + least)
            << name << " of " << in[i];
      }
    }
  }
}

struct Row {
  const char* name;
  ab::Array (*function)(const ab::Operand&);
  Quad (*truth)(Quad);
  double low, high;
  double bound = 4;
};

Quad gamma_truth(Quad x) {
  if (x < 0 && x == floorq(x)) return nanq("");
  return tgammaq(x);
}

Quad ndtri_truth(Quad p) { return p == Quad(0.5) ? Quad(0) : reference::ndtri_quad(p); }

Quad sinc_truth(Quad x) {
  const bool is_odd = fmodq(x, 2) != 0;
  if (x == 0) return 1;
  if (x == roundq(x)) return is_odd == (x < 0) ? Quad(0) : -Quad(0);
  return sinq(reference::quad_pi * (x - 2 * roundq(x / 2))) / (reference::quad_pi * x);
}

const Row rows[] = {
    {"erfc", ab::erfc, erfcq, -10, 30},
    {"erfcx", ab::erfcx, reference::erfcx_quad, -27, 1000},
    {"ndtr", ab::ndtr, reference::ndtr_quad, -40, 40},
    {"log_ndtr", ab::log_ndtr, reference::log_ndtr_quad, -100, 37},
    {"ndtri", ab::ndtri, ndtri_truth, 0, 1},
    {"lgamma", ab::lgamma, [](Quad x) { return lgammaq(x); }, 0, 100},
    {"lgamma", ab::lgamma, [](Quad x) { return lgammaq(x); }, 0, 1e30},
    {"digamma", ab::digamma, reference::digamma_quad, 0, 100},
    {"digamma", ab::digamma, reference::digamma_quad, 1, 2},
    {"digamma", ab::digamma, reference::digamma_quad, 1e-20, 1e20},
    {"gamma", ab::gamma, gamma_truth, -180, 172, 8},
    {"gamma", ab::gamma, gamma_truth, -10, 10, 8},
    {"i0", ab::bessel_i0, [](Quad x) { return reference::bessel_quad(0, x); }, -20, 720},
    {"i1", ab::bessel_i1, [](Quad x) { return reference::bessel_quad(1, x); }, -20, 720},
    {"i0e", ab::bessel_i0e, [](Quad x) { return reference::bessel_quad(0, x) * expq(-fabsq(x)); },
     -20, 600},
    {"i1e", ab::bessel_i1e, [](Quad x) { return reference::bessel_quad(1, x) * expq(-fabsq(x)); },
     -20, 600},
    {"logit", ab::logit, [](Quad x) { return logq(x) - log1pq(-x); }, 0, 1},
    {"entr", ab::entr, [](Quad x) { return x == 0  ? Quad(0)
                                           : x < 0 ? -Quad(inf)
                                                   : -x * logq(x); },
     -1, 1000},
    {"sinc", ab::sinc, sinc_truth, -40.25, 40.25},
};

TEST(Special, WithinFourUnitsInTheLastPlace) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Function function = [&](const ab::Array& x) { return row.function(x); };
    expect_within<float>(1, row.name, function, row.truth, spread(row.low, row.high));
    expect_within<double>(row.bound, row.name, function, row.truth, spread(row.low, row.high));
    std::vector<double> few = spread(row.low, std::min(row.high, 60000.0));
    few.resize(300);
    expect_rounded(row.name, function, row.truth, few);
  }
}

TEST(Special, BelowZeroWithinFourUnitsOfTheGreatestTerm) {
  const std::vector<double> points = spread(-60, -1e-30);
  const Function lgamma = [](const ab::Array& x) { return ab::lgamma(x); };
  const Reference lgamma_scale = [](Quad x) { return fabsq(lgammaq(1 - x)) + 2; };
  const Reference lgamma_truth = [](Quad x) { return x == floorq(x) ? Quad(inf) : lgammaq(x); };
  expect_within<double>(4, "lgamma", lgamma, lgamma_truth, points, lgamma_scale);
  expect_within<float>(1, "lgamma", lgamma, lgamma_truth, points, lgamma_scale);
  const Function digamma = [](const ab::Array& x) { return ab::digamma(x); };
  const Reference digamma_scale = [](Quad x) {
    return fmaxq(fabsq(reference::digamma_quad(1 - x)), fabsq(reference::cotangent_quad(x)));
  };
  expect_within<double>(4, "digamma", digamma, reference::digamma_quad, points, digamma_scale);
  expect_within<float>(1, "digamma", digamma, reference::digamma_quad, points, digamma_scale);
}

TEST(Special, ZetaAndPolygamma) {
  for (double x : {1.0625, 1.5, 2.0, 3.0, 4.5, 10.0, 40.0, 200.0}) {
    SCOPED_TRACE(x);
    const Function zeta = [&](const ab::Array& q) { return ab::zeta(x, q); };
    const Reference truth = [&](Quad q) { return reference::zeta_quad(x, q); };
    const std::vector<double> points = every(8, spread(1e-2, 500));
    expect_within<double>(4, "zeta", zeta, truth, points);
    expect_within<float>(1, "zeta", zeta, truth, points);
  }
  for (int n : {1, 2, 3, 7, 20}) {
    SCOPED_TRACE(n);
    const Reference truth = [&](Quad x) {
      const Quad value = tgammaq(n + 1) * reference::zeta_quad(n + 1, x);
      return n % 2 == 0 ? -value : value;
    };
    const std::vector<double> points = every(8, spread(1e-2, 500));
    const Function static_order = [&](const ab::Array& x) { return ab::polygamma(n, x); };
    const Function order = [&](const ab::Array& x) { return ab::polygamma(x * 0 + n, x); };
    expect_within<double>(8, "polygamma", static_order, truth, points);
    expect_within<double>(8, "polygamma", order, truth, points);
    expect_within<float>(1, "polygamma", order, truth, points);
  }
  const Function digamma = [&](const ab::Array& x) { return ab::polygamma(x * 0, x); };
  expect_within<double>(4, "polygamma", digamma, reference::digamma_quad, spread(1e-3, 50));
  // Below 0, away from the poles and from zeros.
  for (int x : {2, 3, 4}) {
    std::vector<double> points;
    for (double q = -30.25; q < 0; q += 0.5) points.push_back(q);
    const Function zeta = [&](const ab::Array& q) { return ab::zeta(x, q); };
    const Reference truth = [&](Quad q) {
      Quad sum = 0;
      for (; q < 0; q += 1) sum += powq(q, -x);
      return sum + reference::zeta_quad(x, q);
    };
    const Reference scale = [&](Quad q) { return reference::zeta_quad(x, q - floorq(q)); };
    expect_within<double>(6, "zeta", zeta, truth, points, scale);
  }
}

TEST(Special, SpecialValues) {
  struct Value {
    const char* name;
    ab::Array (*function)(const ab::Operand&);
    std::vector<double> at, expected;
  };
  const Value values[] = {
      {"erfc", ab::erfc, {-inf, inf, nan, 0, -0.0}, {2, 0, nan, 1, 1}},
      {"erfcx", ab::erfcx, {-inf, inf, nan, 0}, {inf, 0, nan, 1}},
      {"ndtr", ab::ndtr, {-inf, inf, nan, 0}, {0, 1, nan, 0.5}},
      {"log_ndtr", ab::log_ndtr, {-inf, inf, nan}, {-inf, 0, nan}},
      {"ndtri", ab::ndtri, {0, 1, -0.5, 1.5, nan, 0.5}, {-inf, inf, nan, nan, nan, 0}},
      {"lgamma",
       ab::lgamma,
       {-inf, inf, nan, 0, -0.0, -1, -7, 1, 2},
       {inf, inf, nan, inf, inf, inf, inf, 0, 0}},
      {"digamma", ab::digamma, {-inf, inf, nan, 0, -1, -7}, {nan, inf, nan, nan, nan, nan}},
      {"gamma",
       ab::gamma,
       {-inf, inf, nan, 0, -0.0, -1, -7, 1, 5, 171.7},
       {nan, inf, nan, inf, -inf, nan, nan, 1, 24, inf}},
      {"i0", ab::bessel_i0, {-inf, inf, nan, 0}, {inf, inf, nan, 1}},
      {"i1", ab::bessel_i1, {-inf, inf, nan, 0}, {-inf, inf, nan, 0}},
      {"i0e", ab::bessel_i0e, {-inf, inf, nan, 0}, {0, 0, nan, 1}},
      {"i1e", ab::bessel_i1e, {-inf, inf, nan, 0}, {0, 0, nan, 0}},
      {"logit", ab::logit, {0, 1, -1, 2, nan, 0.5}, {-inf, inf, nan, nan, nan, 0}},
      {"entr", ab::entr, {0, -1, inf, nan, 1}, {0, -inf, -inf, nan, 0}},
      {"sinc", ab::sinc, {0, 1, -3, inf, nan}, {1, 0, 0, 0, nan}},
      {"expit", ab::expit, {0, inf, -inf, nan}, {0.5, 1, 0, nan}},
  };
  for (const Value& row : values) {
    SCOPED_TRACE(row.name);
    const auto size = static_cast<std::int64_t>(row.at.size());
    for (ab::Dtype dtype : {ab::f16, ab::bf16, ab::f32, ab::f64}) {
      expect_values([&] { return row.function(ab::array(row.at).astype(dtype)); }, {dtype, {size}},
                    row.expected,
                    dtype == ab::f64   ? 1e-15
                    : dtype == ab::f32 ? 1e-7
                                       : 5e-3);
    }
  }
}

TEST(Special, SpecialValuesOfTwoOperands) {
  const auto at = [](std::vector<double> values) { return ab::array(values); };
  const auto expect = [&](const char* name, auto function, std::vector<double> a,
                          std::vector<double> b, std::vector<double> expected) {
    SCOPED_TRACE(name);
    const auto size = static_cast<std::int64_t>(a.size());
    expect_values([&] { return function(at(a), at(b)); }, {ab::f64, {size}}, expected, 1e-14);
  };
  using Two = ab::Array (*)(const ab::Operand&, const ab::Operand&);
  expect("zeta", Two(ab::zeta), {1, 0.5, 2, 3, 2.5, 2, inf, 2, nan},
         {2, 2, 0, -1, -1.5, -2, 3, inf, 1}, {inf, nan, inf, nan, nan, inf, 0, 0, nan});
  expect("polygamma", Two(ab::polygamma), {-1, 0.5, 1, 0}, {1, 1, 1, 0},
         {nan, nan, std::pow(std::acos(-1.0), 2) / 6, nan});
  expect("xlogy", Two(ab::xlogy), {0, 0, 2, 0, 1}, {0, inf, 1, nan, 0}, {0, 0, 0, nan, -inf});
  expect("xlog1py", Two(ab::xlog1py), {0, 2, 0}, {-1, 0, nan}, {0, 0, nan});
  expect("rel_entr", Two(ab::rel_entr), {0, 1, 1, -1, nan, 2}, {1, 0, 1, 1, 1, 1},
         {0, inf, 0, inf, nan, 2 * std::log(2)});
  expect("kl_divergence", Two(ab::kl_divergence), {0, 1, 1, -1, nan, 2}, {1, 0, 1, 1, 1, 1},
         {1, inf, 0, inf, nan, 2 * std::log(2) - 1});
  expect("beta", Two(ab::beta), {1, 2, 0.5}, {1, 3, 0.5}, {1, 1. / 12, std::acos(-1.0)});
  expect("gammainc", Two(ab::gammainc), {1, 2, 1, 0, -1, 1, nan, 1}, {0, 0, inf, 1, 1, -1, 1, nan},
         {0, 0, 1, nan, nan, nan, nan, nan});
  expect("gammaincc", Two(ab::gammaincc), {1, 1, 0}, {0, inf, 1}, {1, 0, nan});
}

TEST(Special, AtTheEndsOfTheRange) {
  const double most = std::numeric_limits<double>::max();
  const auto at = [](double x) { return ab::array(std::vector<double>{x}); };
  expect_values([&] { return ab::erfcx(at(most)) / (0.5641895835477563 / most); }, {ab::f64, {1}},
                {1}, 1e-13);
  expect_values([&] { return ab::lgamma(at(-most)); }, {ab::f64, {1}}, {inf});
  for (const auto& [x, y] : {std::pair(1e200, 1e-200), std::pair(1e-200, 1e200)}) {
    const double expected = x * (std::log(x) - std::log(y));
    expect_values([&] { return ab::rel_entr(at(x), at(y)) / expected; }, {ab::f64, {1}}, {1},
                  1e-14);
    const double whole = expected - x + y;
    expect_values([&] { return ab::kl_divergence(at(x), at(y)) / whole; }, {ab::f64, {1}}, {1},
                  1e-14);
  }
}

TEST(Special, BetaOfLargeAndSmallNumbers) {
  for (double a : {1e-3, 0.3, 2.5, 7.9, 8.5, 30.0, 1e4}) {
    SCOPED_TRACE(a);
    const Function betaln = [&](const ab::Array& b) { return ab::betaln(a, b); };
    const Reference truth = [&](Quad b) { return lgammaq(a) + lgammaq(b) - lgammaq(a + b); };
    const Reference scale = [&](Quad b) {
      return 4 * fmaxq(1, fmaxq(fabsq(lgammaq(a)), fabsq(lgammaq(fminq(a, b)))));
    };
    // CUDA's logarithms are within 1 ULP, the CPU's nearly exact.
    const double bound = ab::default_device().kind() == ab::DeviceKind::cuda ? 4.5 : 4;
    expect_within<double>(bound, "betaln", betaln, truth, spread(1e-3, 1e5), scale);
  }
}

TEST(Special, IncompleteGamma) {
  for (double a : {0.01, 0.5, 1.0, 3.0, 8.0, 20.5, 150.0, 2000.0}) {
    SCOPED_TRACE(a);
    std::vector<double> points = {0,     a,    a / 2, a + 1, a * 0.99, a * 1.01,
                                  2 * a, 1e-3, 0.7,   1.3,   30,       1e-5};
    std::vector<double> lower, upper;
    for (double x : points) {
      const auto [p, q] = reference::incomplete_gamma_quad(a, x);
      lower.push_back(double(p));
      upper.push_back(double(q));
    }
    const auto size = static_cast<std::int64_t>(points.size());
    expect_values([&] { return ab::gammainc(a, ab::array(points)); }, {ab::f64, {size}}, lower,
                  1e-11);
    expect_values([&] { return ab::gammaincc(a, ab::array(points)); }, {ab::f64, {size}}, upper,
                  1e-11);
    std::vector<float> few(points.begin(), points.end());
    std::vector<double> of_few;
    for (float x : few)
      of_few.push_back(double(reference::incomplete_gamma_quad(float(a), x).lower));
    expect_values([&] { return ab::gammainc(float(a), ab::array(few)); }, {ab::f32, {size}}, of_few,
                  1e-6);
  }
}

TEST(Special, IncompleteGammaOfLargeOrdersNearTheMean) {
  const std::vector<double> a = {20, 20, 1e6, 1e6, 1e8, 1e8, 1e8, 1e12, 1e15, 1e300};
  const std::vector<double> x = {14.5,     25.5,      1e6,  999000,     1e8,
                                 99980000, 100010000, 1e12, 1e15 + 3e7, 1e299};
  const std::vector<double> lower = {0.0987759890911878986, 0.885970730199972622,
                                     0.500132980760872591,  0.158655213574303652,
                                     0.50001329807601412,   0.0227447325815935581,
                                     0.841344746471798814,  0.500000132980760134,
                                     0.82860914469418106,   0};
  std::vector<double> upper;
  for (double p : lower) upper.push_back(1 - p);
  expect_values([&] { return ab::gammainc(ab::array(a), ab::array(x)); }, {ab::f64, {10}}, lower,
                1e-13);
  expect_values([&] { return ab::gammaincc(ab::array(a), ab::array(x)); }, {ab::f64, {10}}, upper,
                1e-13);
  const ab::Array same = ab::array({20.0f, 1e7f});
  expect_values([&] { return ab::gammainc(same, same); }, {ab::f32, {2}},
                {0.529742730306, 0.500042052211}, 1e-7);
}

TEST(Special, IncompleteGammaOfSmallOrdersKeepsWhatIsLeft) {
  const std::vector<double> a = {1e-15, 1e-15, 1e-300, 1e-8, 0.3};
  const std::vector<double> x = {0.5, 1e-3, 0.5, 1.4, 1.2};
  const std::vector<double> upper = {5.59773594776161149e-16, 6.33153936413613058e-15,
                                     5.59773594776160826e-301, 1.1621931405853295e-9,
                                     0.0633947195692591048};
  expect_values([&] { return ab::gammaincc(ab::array(a), ab::array(x)) / ab::array(upper); },
                {ab::f64, {5}}, {1, 1, 1, 1, 1}, 1e-13);
  for (const auto& function : {ab::gammainc, ab::gammaincc}) {
    for (double value : doubles(function(5e-324, ab::array(x)))) {
      EXPECT_TRUE(value >= 0 && value <= 1) << value;
    }
  }
}

// An element that has not converged is NaN.
TEST(Special, IncompleteFunctionsOfManyElementsConverge) {
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> exponent(-7, 7), ratio(0.1, 3), share(0, 1);
  std::vector<double> a, b, x, y;
  for (int i = 0; i < 3000; ++i) {
    a.push_back(std::exp(exponent(generator)));
    b.push_back(std::exp(exponent(generator)));
    x.push_back(a.back() * ratio(generator));
    y.push_back(share(generator));
  }
  const std::vector<double> upper = doubles(ab::gammaincc(ab::array(a), ab::array(x)));
  const std::vector<double> of_beta =
      doubles(ab::betainc(ab::array(a), ab::array(b), ab::array(y)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(upper[i], double(reference::incomplete_gamma_quad(a[i], x[i]).upper), 1e-13)
        << a[i] << " " << x[i];
    EXPECT_NEAR(of_beta[i], double(reference::incomplete_beta_quad(a[i], b[i], y[i])), 1e-12)
        << a[i] << " " << b[i] << " " << y[i];
  }
}

TEST(Special, IncompleteBetaOfLargeParameters) {
  expect_values(
      [] {
        return ab::betainc(ab::array(std::vector<double>{1e6, 1e8, 4, 1e8}),
                           ab::array(std::vector<double>{1e6, 1e8, 1e9, 2.5}),
                           ab::array(std::vector<double>{0.5, 0.5, 6e-9, 1 - 4e-8}));
      },
      {ab::f64, {4}}, {0.5, 0.5, 0.84879611963269924, 0.156235615685159075}, 1e-12);
}

TEST(Special, IncompleteBeta) {
  for (double a : {0.05, 0.5, 1.0, 4.0, 60.0, 500.0}) {
    for (double b : {0.1, 1.0, 2.5, 30.0, 700.0}) {
      SCOPED_TRACE(std::to_string(a) + " " + std::to_string(b));
      std::vector<double> points = {0, 1, 0.5, 0.01, 0.3, 0.77, 0.999, a / (a + b)}, expected;
      for (double x : points) expected.push_back(double(reference::incomplete_beta_quad(a, b, x)));
      const auto size = static_cast<std::int64_t>(points.size());
      expect_values([&] { return ab::betainc(a, b, ab::array(points)); }, {ab::f64, {size}},
                    expected, 1e-11);
    }
  }
  expect_values(
      [] {
        return ab::betainc(ab::array(std::vector<double>{-1, 1, 1, nan}), 1.0,
                           ab::array(std::vector<double>{0.5, -1, 2, 0.5}));
      },
      {ab::f64, {4}}, {nan, nan, nan, nan});
}

}  // namespace
