// Complex arithmetic written as arithmetic on parts: how far it is from the interpreter's, which
// takes it from the host's complex long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/canonicalize.h"
#include "passes/expand.h"
#include "passes/simplify.h"

namespace anabranch {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Graph expanded(const Graph& graph) {
  PassContext context;
  return expand(graph, context);
}

std::vector<double> part_values(Dtype dtype, bool finite) {
  std::vector<double> values = {0,     1e-30, 1e-10, 1e-4, 0.01, 0.3, 0.5,  0.6,    0.8, 0.9,
                                0.999, 1,     1.001, 1.25, 1.5,  2,   3,    3.1415, 10,  20,
                                50,    80,    90,    1e3,  1e5,  1e9, 1e20, 1e37,   3e38};
  if (dtype == c128) {
    const std::vector<double> wide = {1e-305, 1e-300, 1e-160, 1e-155, 400,   700,
                                      709,    715,    1e150,  1e155,  1e300, 1.7e308};
    values.insert(values.end(), wide.begin(), wide.end());
  }
  if (!finite) values.insert(values.end(), {inf, nan});
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

// All pairs of telling parts, and random ones of ordinary size and on the unit circle.
template <class T>
Literal numbers_of(Dtype dtype, bool finite) {
  using Part = typename T::value_type;
  std::vector<T> numbers;
  const std::vector<double> parts = part_values(dtype, finite);
  for (double re : parts) {
    for (double im : parts) numbers.emplace_back(static_cast<Part>(re), static_cast<Part>(im));
  }
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> draw(-4, 4);
  for (int i = 0; i < 2000; ++i) {
    const double x = draw(random), y = draw(random), size = std::hypot(x, y);
    numbers.emplace_back(static_cast<Part>(x), static_cast<Part>(y));
    numbers.emplace_back(static_cast<Part>(x / size), static_cast<Part>(y / size));
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  return Literal::of(std::span<const T>(numbers), Shape{count});
}

template <class Part>
double ulp_of(Part x) {
  x = std::fabs(x);
  const Part next = std::nextafter(x, std::numeric_limits<Part>::infinity());
  return std::isinf(next) ? static_cast<double>(x) - static_cast<double>(std::nextafter(x, Part(0)))
                          : static_cast<double>(next) - static_cast<double>(x);
}

struct Worst {
  double ulps = 0;
  std::string where;

  void see(double found, const std::string& text) {
    if (found <= ulps) return;
    ulps = found;
    where = text;
  }
};

struct Misses {
  Worst by_part, by_size;  // in units of each part, or of the greater one
};

struct Results {
  Literal want, got;
};

// Of the op itself, and of what it is expanded to.
Results results_of(Op op, const Literal& z) {
  GraphBuilder builder;
  const Value x = builder.parameter(z.type());
  const Graph graph = builder.build({builder.add(op, {x})});
  const std::vector<Literal> inputs = {z};
  return {interpret(graph, inputs)[0], interpret(expanded(graph), inputs)[0]};
}

template <class T>
Misses misses_of(Op op, const Literal& z) {
  const auto [want, got] = results_of(op, z);
  Misses misses;
  const auto w = want.values<T>(), g = got.values<T>();
  for (std::size_t i = 0; i < w.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::string text = element_to_string(z, at) + " gives " + element_to_string(got, at) +
                             " instead of " + element_to_string(want, at);
    const auto size = std::max(std::fabs(w[i].real()), std::fabs(w[i].imag()));
    for (auto [a, b] : {std::pair(w[i].real(), g[i].real()), std::pair(w[i].imag(), g[i].imag())}) {
      if (std::isnan(a) && std::isnan(b)) continue;
      if (a == b) continue;
      const bool finite = std::isfinite(a) && std::isfinite(b);
      const double apart = std::fabs(static_cast<double>(a) - static_cast<double>(b));
      misses.by_part.see(finite ? apart / ulp_of(a) : inf, text);
      misses.by_size.see(finite ? apart / ulp_of(std::isfinite(size) ? size : a) : inf, text);
    }
  }
  return misses;
}

struct Bounds {
  Op op;
  double by_part, by_size;  // of c128
};

// Of parts that cancel no more is promised than of the whole.
constexpr Bounds functions[] = {{Op::sign, 4, 4},
                                {Op::sqrt, 4, 4},
                                {Op::rsqrt, 8, 4},
                                {Op::exponential, 12, 12},
                                {Op::exponential_minus_one, inf, 12},
                                {Op::log, inf, 2},
                                {Op::log_plus_one, inf, 4},
                                {Op::logistic, inf, 12},
                                {Op::sine, 12, 12},
                                {Op::cosine, 12, 12},
                                {Op::tan, 6, 6},
                                {Op::asin, 6, 6},
                                {Op::acos, 6, 6},
                                {Op::atan, 6, 6},
                                {Op::sinh, 12, 12},
                                {Op::cosh, 12, 12},
                                {Op::tanh, 6, 6},
                                {Op::asinh, 6, 6},
                                {Op::acosh, 6, 6},
                                {Op::atanh, 6, 6}};

TEST(ExpandComplex, FunctionsOfC64AreRightInBothParts) {
  for (const Bounds& row : functions) {
    const Misses misses =
        misses_of<std::complex<float>>(row.op, numbers_of<std::complex<float>>(c64, true));
    EXPECT_LE(misses.by_part.ulps, 1) << name(row.op) << " of " << misses.by_part.where;
  }
}

TEST(ExpandComplex, FunctionsOfC128AreWithinFewUnits) {
  for (const Bounds& row : functions) {
    const Misses misses =
        misses_of<std::complex<double>>(row.op, numbers_of<std::complex<double>>(c128, true));
    EXPECT_LE(misses.by_part.ulps, row.by_part) << name(row.op) << " of " << misses.by_part.where;
    EXPECT_LE(misses.by_size.ulps, row.by_size) << name(row.op) << " of " << misses.by_size.where;
  }
}

// Zero of either sign, a number, an infinity or NaN. The sign of an infinity beside NaN is open.
std::string kind_of(double part, double other) {
  if (std::isnan(part)) return "nan";
  if (std::isinf(part)) return part < 0 && !std::isnan(other) ? "-inf" : "inf";
  return part == 0 ? "zero" : "number";
}

std::string kinds_of(std::complex<double> z) {
  return kind_of(z.real(), z.imag()) + " " + kind_of(z.imag(), z.real());
}

// As the host's C library, which follows Annex G.
TEST(ExpandComplex, InfinitiesAndNanGoTheWayOfAnnexG) {
  const std::vector<double> parts = {0.0, -0.0, 1, -1, 2, -2, inf, -inf, nan, 1000, -1000};
  std::vector<std::complex<double>> numbers;
  for (double re : parts) {
    for (double im : parts) numbers.emplace_back(re, im);
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  const Literal z = Literal::of(std::span<const std::complex<double>>(numbers), Shape{count});
  for (const Bounds& row : functions) {
    if (row.op == Op::logistic) continue;  // of which C knows nothing
    GraphBuilder builder;
    const Value x = builder.parameter(z.type());
    const Graph graph = builder.build({builder.add(row.op, {x})});
    const std::vector<Literal> inputs = {z};
    const Literal want = interpret(graph, inputs)[0], got = interpret(expanded(graph), inputs)[0];
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(kinds_of(got.values<std::complex<double>>()[at]),
                kinds_of(want.values<std::complex<double>>()[at]))
          << name(row.op) << " of " << element_to_string(z, i) << " gives "
          << element_to_string(got, i) << " instead of " << element_to_string(want, i);
    }
  }
}

// Which side of a cut a zero is on its sign says.
TEST(ExpandComplex, ZerosSayOnWhichSideOfACutTheyAre) {
  using C = std::complex<double>;
  const std::vector<C> numbers = {{-4, 0.0}, {-4, -0.0}, {2, 0.0}, {2, -0.0}, {0.0, 2}, {-0.0, 2}};
  const Literal z = Literal::of(std::span<const C>(numbers), Shape{6});
  for (Op op : {Op::sqrt, Op::log, Op::asin, Op::acos, Op::atan, Op::asinh, Op::acosh, Op::atanh}) {
    const auto [want, got] = results_of(op, z);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const C w = want.values<C>()[i], g = got.values<C>()[i];
      EXPECT_NEAR(g.real(), w.real(), 1e-14) << name(op) << " of " << numbers[i];
      EXPECT_NEAR(g.imag(), w.imag(), 1e-14) << name(op) << " of " << numbers[i];
    }
  }
}

TEST(ExpandComplex, ZerosHaveTheSignsOfTheFormula) {
  using C = std::complex<double>;
  const std::vector<C> numbers = {{0.0, -2}, {-0.0, -2},   {0.0, 2},     {-2, 0.0}, {-2, -0.0},
                                  {2, 0.0},  {0.0, 1e300}, {1e300, 0.0}, {0.0, inf}};
  const Literal z = Literal::of(std::span<const C>(numbers), Shape{9});
  for (Op op : {Op::sinh, Op::cosh, Op::sine, Op::cosine}) {
    const auto [want, got] = results_of(op, z);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const C w = want.values<C>()[i], g = got.values<C>()[i];
      const bool re_is_zero = w.real() == 0, im_is_zero = w.imag() == 0;
      EXPECT_EQ(re_is_zero && std::signbit(g.real()), re_is_zero && std::signbit(w.real()))
          << name(op) << i;
      EXPECT_EQ(im_is_zero && std::signbit(g.imag()), im_is_zero && std::signbit(w.imag()))
          << name(op) << i;
    }
  }
}

TEST(ExpandComplex, LogarithmsNearOneKeepTheirDigits) {
  using C = std::complex<double>;
  const C number(0.9999999999987099, 1.4256421101249816e-13);
  const C got = results_of(Op::log, Literal::scalar(number)).got.values<C>()[0];
  EXPECT_NEAR(got.real(), -1.2900791546152538e-12, 12 * 0x1p-52 * 1.3e-12);
}

// A rule for real numbers could lose the sign of a zero, or a rounding of the parts.
TEST(ExpandComplex, OtherPassesLeaveComplexNumbersAlone) {
  const Graph graph = parse(R"(
graph s(%0: u32[2], %1: c64[2], %2: c64[2,1]) {
  %3: c64[2] = convert %0
  %4: f64[2] = convert %3
  %5: c64[] = constant (-0, 0)
  %6: c64[2] = broadcast_in_dim %5 axes=[]
  %7: c64[2] = add %1, %6
  %8: c64[] = constant (1, 0)
  %9: c64[2] = broadcast_in_dim %8 axes=[]
  %10: c64[2] = multiply %1, %9
  %11: c64[2] = reduce_sum %2 axes=[1]
  return %4, %7, %10, %11
})");
  PassContext context;
  const std::vector<float> nasty = {-0.0f, -0.0f, 16777217.0f, INFINITY};
  const std::vector<Literal> inputs = {
      Literal::of(std::span<const std::uint32_t>(std::vector<std::uint32_t>{16777217, 3}), {2}),
      Literal::of(std::span(reinterpret_cast<const std::complex<float>*>(nasty.data()), 2), {2}),
      Literal::of(std::span(reinterpret_cast<const std::complex<float>*>(nasty.data()), 2),
                  {2, 1})};
  const auto want = interpret(graph, inputs);
  for (const auto pass : {canonicalize, simplify}) {
    const auto got = interpret(pass(graph, context), inputs);
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(got[i].bytes(), want[i].bytes())) << i;
    }
  }
}

}  // namespace
}  // namespace anabranch
