// Complex arrays as users meet them: made, computed with, printed and read.
#include <complex>
#include <sstream>

#include "tests/support/values.h"

namespace {

using C = std::complex<float>;
using Z = std::complex<double>;

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<T>& wanted, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(std::abs(got[i] - wanted[i]), 0, tolerance * (1 + std::abs(wanted[i])))
        << "element " << i << ": " << got[i] << " instead of " << wanted[i];
  }
}

std::string text_of(const ab::Array& array) {
  std::ostringstream text;
  text << array;
  return text.str();
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find(", at "));
  }
  return "";
}

TEST(Complex, IsMadeOfPartsAndTakenApart) {
  const ab::Array z = ab::complex(ab::array({1.0f, 2.0f}), ab::array({-1.0f, 0.5f}));
  EXPECT_EQ(z.dtype(), ab::c64);
  EXPECT_EQ(z.to_vector<C>(), (std::vector<C>{{1, -1}, {2, 0.5}}));
  EXPECT_EQ(ab::real(z).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(ab::imag(z).to_vector<float>(), (std::vector<float>{-1, 0.5}));
  EXPECT_EQ(ab::conj(z).to_vector<C>(), (std::vector<C>{{1, 1}, {2, -0.5}}));
  EXPECT_EQ(ab::array(std::vector<Z>{{1, 2}}).dtype(), ab::c128);
  EXPECT_EQ(ab::scalar(C(1, 2)).item<C>(), C(1, 2));
  EXPECT_EQ(ab::real(ab::array({3, 4})).to_vector<int>(), (std::vector<int>{3, 4}));
  EXPECT_EQ(ab::imag(ab::array({3.0f})).to_vector<float>(), (std::vector<float>{0}));
  expect_close(doubles(ab::angle(ab::array(std::vector<C>{{0, 1}, {-1, 0}}))),
               {1.5707963267948966, 3.141592653589793}, 1e-6, "angle");
}

TEST(Complex, MeetsFloatsAndComplexNumbers) {
  const ab::Array x = ab::array({1.0f, 2.0f});
  const ab::Array z = ab::array(std::vector<C>{{0, 1}, {1, 0}});
  EXPECT_EQ((x + z).dtype(), ab::c64);
  EXPECT_EQ((x.astype(ab::f64) + z).dtype(), ab::c128);
  EXPECT_EQ((x * Z(0, 1)).to_vector<C>(), (std::vector<C>{{0, 1}, {0, 2}}));
  EXPECT_EQ((z * 2).to_vector<C>(), (std::vector<C>{{0, 2}, {2, 0}}));
  EXPECT_EQ((z == z).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_NE(message([&] { ab::array({1, 2}) + z; }).find("dtypes do not mix"), std::string::npos);
  EXPECT_NE(message([&] { z < z; }).find("complex numbers have no order"), std::string::npos);
  EXPECT_NE(message([&] { ab::maximum(z, z); }).find("real numbers, not bool"), std::string::npos);
  EXPECT_NE(message([&] { ab::max(z); }).find("real numbers, not bool"), std::string::npos);
}

TEST(Complex, FunctionsAreThoseOfTheStandardLibrary) {
  const std::vector<Z> points = {{0.3, -0.7}, {-1.2, 0.4}, {2, 3}, {-0.5, -0.1}};
  const ab::Array z = ab::array(points);
  const auto check = [&](ab::Array (*function)(const ab::Operand&), auto expected) {
    std::vector<Z> wanted;
    for (Z point : points) wanted.push_back(expected(point));
    expect_near(function(z).to_vector<Z>(), wanted, 1e-14);
  };
  check(ab::exp, [](Z x) { return std::exp(x); });
  check(ab::log, [](Z x) { return std::log(x); });
  check(ab::sqrt, [](Z x) { return std::sqrt(x); });
  check(ab::sin, [](Z x) { return std::sin(x); });
  check(ab::cos, [](Z x) { return std::cos(x); });
  check(ab::tan, [](Z x) { return std::tan(x); });
  check(ab::asin, [](Z x) { return std::asin(x); });
  check(ab::acos, [](Z x) { return std::acos(x); });
  check(ab::atan, [](Z x) { return std::atan(x); });
  check(ab::sinh, [](Z x) { return std::sinh(x); });
  check(ab::tanh, [](Z x) { return std::tanh(x); });
  check(ab::acosh, [](Z x) { return std::acosh(x); });
  check(ab::reciprocal, [](Z x) { return 1.0 / x; });
  check(ab::square, [](Z x) { return x * x; });
  check(ab::log10, [](Z x) { return std::log10(x); });
  std::vector<double> sizes;
  for (Z point : points) sizes.push_back(std::abs(point));
  expect_close(doubles(ab::abs(z)), sizes, 1e-15, "abs");
}

// A logarithm to another base keeps the imaginary part where the real one is infinite.
TEST(Complex, LogarithmsToABaseScaleBothParts) {
  const double inf = INFINITY, pi = std::acos(-1.0);
  const auto parts = [](const ab::Array& z) {
    std::vector<double> all;
    for (const ab::Array& part : {ab::real(z), ab::imag(z)}) {
      for (double value : doubles(part)) all.push_back(value);
    }
    return all;
  };
  for (ab::Dtype dtype : {ab::c64, ab::c128}) {
    const ab::Array z = ab::array(std::vector<Z>{0, inf, -inf, -4}).astype(dtype);
    expect_close(parts(ab::log2(z)), {-inf, inf, inf, 2, 0, 0, pi / std::log(2), pi / std::log(2)},
                 1e-6, "log2");
    expect_close(parts(ab::log10(z)),
                 {-inf, inf, inf, std::log10(4), 0, 0, pi / std::log(10), pi / std::log(10)}, 1e-6,
                 "log10");
    const ab::Array powers = ab::array(std::vector<Z>{inf, -inf, {3, pi}}).astype(dtype);
    const double turn = pi * std::log(2);
    expect_close(parts(ab::exp2(powers)), {inf, 0, 8 * std::cos(turn), 0, 0, 8 * std::sin(turn)},
                 1e-6, "exp2");
  }
}

TEST(Complex, SumsMeansAndProducts) {
  const ab::Array z = ab::array(std::vector<C>{{1, 1}, {2, 0}, {0, 3}});
  EXPECT_EQ(ab::sum(z).item<C>(), C(3, 4));
  EXPECT_EQ(ab::prod(z).item<C>(), C(-6, 6));
  expect_near(ab::mean(z).to_vector<C>(), {C(1, 4.0f / 3)});
  EXPECT_EQ(ab::var(z).dtype(), ab::f32);
  EXPECT_NEAR(ab::var(z).item<float>(), 2.0f / 3 + 14.0f / 9, 1e-5);
  EXPECT_NEAR(ab::norm(z).item<float>(), std::sqrt(15.0f), 1e-5);
  EXPECT_FALSE(ab::any(ab::isnan(z)).item<bool>());
  EXPECT_TRUE(ab::all(ab::isfinite(z)).item<bool>());
}

TEST(Complex, ReductionsPassOverNan) {
  const ab::Array z = ab::array(std::vector<C>{{1, 2}, {NAN, 1}, {1, NAN}, {0, 3}});
  const auto both = [](ab::Array x) { return ab::stack({ab::nansum(x), ab::nanprod(x)}); };
  const std::vector<C> wanted = {{1, 5}, {-6, 3}};
  EXPECT_EQ(ab::jit(both)(z).to_vector<C>(), wanted);
  EXPECT_EQ(both(z).to_vector<C>(), wanted);
  const auto is_itself = [](ab::Array x) { return x == x; };
  EXPECT_EQ(ab::jit(is_itself)(z).to_vector<bool>(), (std::vector{true, false, false, true}));
}

TEST(Complex, MatrixProducts) {
  const auto product = [](ab::Array a, ab::Array b) { return ab::matmul(a, b); };
  const ab::Array a = ab::array(std::vector<C>{{1, 1}, {0, 2}, {3, 0}, {1, -1}}, {2, 2});
  const ab::Array b = ab::array(std::vector<C>{{0, 1}, {1, 0}}, {2, 1});
  const std::vector<C> wanted = {{-1, 3}, {1, 2}};
  EXPECT_EQ(ab::jit(product)(a, b).to_vector<C>(), wanted);
  EXPECT_EQ(product(a, b).to_vector<C>(), wanted);
  // Of the first operand's conjugate, as the Array API says.
  const ab::Array z = ab::array(std::vector<C>{{1, 2}, {0, 1}});
  const ab::Array w = ab::array(std::vector<C>{{3, 0}, {1, 1}});
  EXPECT_EQ(ab::vecdot(z, w).item<C>(), C(4, -7));
  EXPECT_EQ(ab::vecdot(z, z).item<C>(), C(6, 0));
  EXPECT_EQ(ab::vecdot(ab::array({1.0f, 2.0f}), w).item<C>(), C(5, 2));
}

TEST(Complex, GoesThroughLoops) {
  const auto mandelbrot = [](ab::Array c) {
    const ab::Array zero = ab::zeros_like(c);
    return ab::fori_loop(
        0, 5, [&](ab::Array, ab::Array z) { return z * z + c; }, zero);
  };
  const ab::Array c = ab::array(std::vector<Z>{{-0.5, 0.5}, {0.25, 0}});
  std::vector<Z> wanted;
  for (Z start : {Z(-0.5, 0.5), Z(0.25, 0)}) {
    Z z = 0;
    for (int i = 0; i < 5; ++i) z = z * z + start;
    wanted.push_back(z);
  }
  expect_near(ab::jit(mandelbrot)(c).to_vector<Z>(), wanted, 1e-14);
}

// Against what NumPy 2.4 prints.
TEST(Complex, PrintsAsNumpyDoes) {
  EXPECT_EQ(text_of(ab::array(std::vector<C>{{1, 2}, {3, -4.5f}})), "[1.+2.j  3.-4.5j]");
  EXPECT_EQ(text_of(ab::array(std::vector<Z>{{1, 10}, {2, -5}})), "[1.+10.j 2. -5.j]");
  EXPECT_EQ(text_of(ab::array(std::vector<C>{{0.1f, 0.3f}})), "[0.1+0.3j]");
  EXPECT_EQ(text_of(ab::scalar(C(1, 2))), "(1+2j)");
  EXPECT_EQ(text_of(ab::scalar(C(0, 2))), "2j");
}

}  // namespace
