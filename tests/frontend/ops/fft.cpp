// Fourier transforms against sums by the definition, their inverses, norms and misuse.
#include "anabranch/fft.h"

#include <complex>
#include <numbers>

#include "tests/frontend/expect_error.h"
#include "tests/support/values.h"

namespace {

namespace fft = ab::fft;

ab::Array signal(ab::Sizes sizes, ab::Dtype dtype = ab::f32, std::uint64_t seed = 3) {
  return ab::random::uniform(ab::random::key(seed), sizes, dtype, -1, 1);
}
ab::Array complex_signal(ab::Sizes sizes, ab::Dtype dtype = ab::f32) {
  return ab::complex(signal(sizes, dtype, 4), signal(sizes, dtype, 5));
}

void expect_same(const ab::Array& found, const ab::Array& expected, double tolerance) {
  ASSERT_EQ(found.shape(), expected.shape());
  ASSERT_EQ(found.dtype(), expected.dtype());
  expect_close(doubles(ab::real(found)), doubles(ab::real(expected)), tolerance, "real");
  expect_close(doubles(ab::imag(found)), doubles(ab::imag(expected)), tolerance, "imaginary");
}
double tolerance_of(ab::Dtype dtype) { return ab::part_dtype(dtype) == ab::f32 ? 1e-4 : 1e-12; }

// By the definition, along the last axis of complex128 numbers.
ab::Array by_definition(const ab::Array& x) {
  const std::int64_t n = x.shape()[x.rank() - 1];
  const ab::Array j = ab::arange(n).astype(ab::f64);
  const ab::Array turns = ab::remainder(ab::expand_dims(j, 1) * j, static_cast<double>(n)) *
                          (-2 * std::numbers::pi / static_cast<double>(n));
  return ab::matmul(x, ab::complex(ab::cos(turns), ab::sin(turns)));
}

TEST(Fft, IsWhatItsDefinitionSays) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 31, 64, 97, 100, 210, 257}) {
    SCOPED_TRACE(n);
    const ab::Array x = complex_signal({3, n}, ab::f64);
    const ab::Array expected = by_definition(x);
    expect_same(fft::fft(x), expected, 1e-11);
    expect_same(fft::fft(x.astype(ab::c64)), expected.astype(ab::c64), 1e-4);
    const ab::Array reals = ab::real(x);
    const ab::Array half = ab::slice_in_dim(
        by_definition(ab::complex(reals, ab::zeros_like(reals))), 0, n / 2 + 1, -1);
    expect_same(fft::rfft(reals), half, 1e-11);
    expect_same(fft::rfft(reals.astype(ab::f32)), half.astype(ab::c64), 1e-4);
  }
}

TEST(Fft, InversesAndNorms) {
  for (const ab::Dtype dtype : {ab::f32, ab::f64}) {
    const double tolerance = tolerance_of(dtype);
    for (const std::int64_t n : {1, 2, 5, 8, 30, 101}) {
      SCOPED_TRACE(n);
      const ab::Array z = complex_signal({2, n}, dtype), x = signal({2, n}, dtype);
      for (const auto norm : {fft::Norm::backward, fft::Norm::ortho, fft::Norm::forward}) {
        expect_same(fft::ifft(fft::fft(z, {}, -1, norm), {}, -1, norm), z, tolerance);
        expect_same(fft::irfft(fft::rfft(x, {}, -1, norm), n, -1, norm), x, tolerance);
        expect_same(fft::hfft(fft::ihfft(x, {}, -1, norm), n, -1, norm), x, tolerance);
        expect_same(fft::ifftn(fft::fftn(z, {}, {}, norm), {}, {}, norm), z, tolerance);
        expect_same(fft::irfftn(fft::rfftn(x, {}, {}, norm), {2, n}, {}, norm), x, tolerance);
      }
    }
  }
}

TEST(Fft, Values) {
  const auto x = [] { return ab::array({1.0f, 3.0f, 5.0f, 7.0f}); };
  expect_values([&] { return ab::imag(fft::fft(x())); }, {ab::f32, {4}}, {0, 4, 0, -4});
  expect_values([&] { return ab::real(fft::rfft(x())); }, {ab::f32, {3}}, {16, -4, -4});
  expect_values([&] { return ab::real(fft::fft(x(), {}, 0, fft::Norm::ortho)); }, {ab::f32, {4}},
                {8, -2, -2, -2});
  expect_values([&] { return ab::real(fft::fft(x(), {}, 0, fft::Norm::forward)); }, {ab::f32, {4}},
                {4, -1, -1, -1});
  // Cut, and filled with zeros.
  expect_values([&] { return ab::real(fft::fft(x(), 2)); }, {ab::f32, {2}}, {4, -2});
  expect_values([&] { return ab::real(fft::fft(x(), 8)); }, {ab::f32, {8}},
                doubles(ab::real(fft::fft(ab::pad(x(), {0}, {4})))), 1e-5);
  expect_values([&] { return fft::irfft(fft::rfft(x())); }, {ab::f32, {4}}, {1, 3, 5, 7});
  expect_values([&] { return fft::hfft(fft::ihfft(x())); }, {ab::f32, {4}}, {1, 3, 5, 7});
  expect_values([] { return fft::fftfreq(4, 0.5); }, {ab::f32, {4}}, {0, 0.5, -1, -0.5});
  expect_values([] { return fft::fftfreq(5); }, {ab::f32, {5}}, {0, 0.2, 0.4, -0.4, -0.2});
  expect_values([] { return fft::rfftfreq(5, 0.1, ab::f64); }, {ab::f64, {3}}, {0, 2, 4});
  expect_values([] { return fft::fftshift(ab::arange(5)); }, {ab::i32, {5}}, {3, 4, 0, 1, 2});
  expect_values([] { return fft::ifftshift(fft::fftshift(ab::arange(5))); }, {ab::i32, {5}},
                {0, 1, 2, 3, 4});
  EXPECT_EQ(fft::rfft(x().astype(ab::f16)).dtype(), ab::c64);
}

TEST(Fft, AnyAxes) {
  const ab::Array z = complex_signal({3, 4, 5});
  const ab::Array along_first =
      ab::permute_dims(fft::fft(ab::permute_dims(z, {2, 1, 0})), {2, 1, 0});
  expect_same(fft::fft(z, {}, 0), along_first, 1e-4);
  const ab::Array both = fft::fft(fft::fft(z, {}, 0), {}, 2);
  expect_same(fft::fftn(z, {}, {0, 2}), both, 1e-4);
  expect_same(fft::fft2(z, {}, {2, 0}), both, 1e-4);
  expect_same(fft::fftn(z), fft::fft(both, {}, 1), 1e-4);
  expect_same(fft::fft2(z, {2, 7}), fft::fft(fft::fft(z, 2, 1), 7, 2), 1e-4);
  const ab::Array x = signal({2, 3, 2, 3, 2});
  expect_same(fft::irfftn(fft::rfftn(x), x.shape()), x, 1e-4);
  expect_same(fft::rfftn(x), fft::fftn(fft::rfft(x), {}, {0, 1, 2, 3}), 1e-4);
  expect_same(fft::irfft2(fft::rfft2(x)), x, 1e-4);
  EXPECT_EQ(fft::fft(ab::zeros(ab::c64, {0, 4})).shape(), ab::Shape({0, 4}));
}

// Each transform is computed by one thread, alone or beside others.
TEST(Fft, ABatchHasTheBitsOfItsTransforms) {
  for (const std::int64_t n : {97, 128}) {
    const ab::Array z = complex_signal({1003, n});
    const auto together = doubles(ab::real(fft::fft(z)));
    for (const std::int64_t i : {0, 500, 1002}) {
      const auto two = doubles(ab::real(fft::fft(ab::slice_in_dim(z, i == 0 ? 0 : i - 1, i + 1))));
      EXPECT_TRUE(std::equal(two.end() - n, two.end(), together.begin() + i * n)) << i;
    }
  }
}

TEST(Fft, Misuse) {
  const ab::Array x = ab::zeros(ab::f32, {4});
  expect_error([&] { fft::fft(x, 0); },
               "fft: a transform has at least one element: 0 of f32[4] on axis 0, at fft.cpp:");
  expect_error([&] { fft::rfft(ab::zeros(ab::c64, {4})); },
               "rfft: c64[4] given to what takes floating-point numbers");
  expect_error([&] { fft::fft(ab::zeros(ab::i32, {4})); }, "fft: i32[4] given to what takes ");
  expect_error([&] { fft::fftn(x, {4}, {0, 0}); }, "fftn: ");
  expect_error(
      [&] {
        fft::fftn(x, {4, 4});
      },
      "fftn: 2 sizes for f32[4]; give at most one per axis, at fft.cpp:");
  expect_error(
      [&] {
        fft::fftn(x, {4, 4}, {0});
      },
      "fftn: 2 sizes for 1 axes of f32[4]; give one per axis, at fft.cpp:");
  expect_error([&] { fft::fft(ab::scalar(1.0f)); }, "fft: ");
  expect_error([&] { fft::fftfreq(0); },
               "fftfreq: takes at least one sample and a spacing: 0, 1.000000, at fft.cpp:");
}

}  // namespace
