// The interpreter's Fourier transforms: values that are known, and inverses.
#include <gtest/gtest.h>

#include <complex>

#include "tests/support/apply.h"

namespace anabranch {
namespace {

using C = std::complex<double>;

Literal fft(const Literal& x, FftKind kind, std::vector<std::int64_t> lengths) {
  return apply(Op::fft, {x}, FftAttributes{kind, std::move(lengths)});
}

TEST(Interpret, FftOfKnownSignals) {
  EXPECT_EQ(fft(row<C>({1, 0, 0, 0}), FftKind::fft, {4}), row<C>({1, 1, 1, 1}));
  EXPECT_EQ(fft(row<C>({0, 1, 0, 0}), FftKind::fft, {4}), row<C>({1, {0, -1}, -1, {0, 1}}));
  EXPECT_EQ(fft(row<C>({0, 4, 0, 0}), FftKind::ifft, {4}), row<C>({1, {0, 1}, -1, {0, -1}}));
  EXPECT_EQ(fft(row<C>({{2, 3}}), FftKind::fft, {1}), row<C>({{2, 3}}));
  EXPECT_EQ(fft(row<C>({1, 3, 5, 7}), FftKind::fft, {4}), row<C>({16, {-4, 4}, -4, {-4, -4}}));
}

TEST(Interpret, FftOfReals) {
  EXPECT_EQ(fft(row<double>({1, 3, 5, 7}), FftKind::rfft, {4}), row<C>({16, {-4, 4}, -4}));
  EXPECT_EQ(fft(row<C>({16, {-4, 4}, -4}), FftKind::irfft, {4}), row<double>({1, 3, 5, 7}));
  // What cannot be of a real transform is not read.
  EXPECT_EQ(fft(row<C>({{16, 9}, {-4, 4}, {-4, 9}}), FftKind::irfft, {4}),
            row<double>({1, 3, 5, 7}));
  EXPECT_EQ(fft(row<C>({{5, 1}}), FftKind::irfft, {1}), row<double>({5}));
}

TEST(Interpret, FftOfSeveralAxesAndBatches) {
  const Literal x = grid<C>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(fft(x, FftKind::fft, {2}), grid<C>({2, 2}, {3, -1, 7, -1}));
  EXPECT_EQ(fft(x, FftKind::fft, {2, 2}), grid<C>({2, 2}, {10, -2, -4, 0}));
  EXPECT_EQ(fft(fft(x, FftKind::fft, {2, 2}), FftKind::ifft, {2, 2}), x);
  EXPECT_EQ(fft(grid<C>({2, 0}, {}), FftKind::fft, {0}), grid<C>({2, 0}, {}));
}

TEST(Interpret, FftInvertsOddLengths) {
  const Literal x = grid<double>({2, 5}, {1, -2, 3, 0.5, 7, 0, 2, 9, -1, 4});
  const Literal half = fft(x, FftKind::rfft, {2, 5});
  EXPECT_EQ(half.type().shape, Shape({2, 3}));
  const Literal back = fft(half, FftKind::irfft, {2, 5});
  const auto found = back.values<double>();
  for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(found[i], x.values<double>()[i], 1e-12) << i;
}

}  // namespace
}  // namespace anabranch
