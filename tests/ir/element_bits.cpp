#include "anabranch/detail/element_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

#include "ir/kernel/builder.h"

namespace anabranch {
namespace {

TEST(ElementBits, HoldElementsOfUpTo128Bits) {
  const std::complex<double> element(1.5, -2.0);
  const ElementBits bits = ElementBits::of(element);
  EXPECT_EQ(bits.low, std::bit_cast<std::uint64_t>(1.5));
  EXPECT_EQ(bits.high, std::bit_cast<std::uint64_t>(-2.0));
  const auto bytes = std::as_bytes(std::span(&element, 1));
  EXPECT_TRUE(std::ranges::equal(bits.bytes(), bytes));
  EXPECT_EQ(ElementBits::from(bytes), bits);
  EXPECT_EQ(ElementBits::of(std::int8_t{-1}), ElementBits(0xff));
  EXPECT_NE(ElementBits(1, 0), ElementBits(1, 1));
}

TEST(ElementBits, KnowTheirWidth) {
  for (std::size_t width = 1; width < 128; ++width) {
    const ElementBits above =
        width < 64 ? ElementBits(1ull << width) : ElementBits(0, 1ull << (width - 64));
    EXPECT_FALSE(above.fit(width)) << width;
    EXPECT_TRUE(above.fit(width + 1)) << width;
  }
  EXPECT_TRUE(ElementBits(~0ull, ~0ull).fit(128));
}

TEST(ElementBits, OfAKernelsConstantsCountWhole) {
  KernelBuilder builder("k");
  const Ref one = builder.constant(f64, {1, 0});
  EXPECT_EQ(builder.constant(f64, {1, 0}), one);
  EXPECT_FALSE(builder.constant(f64, {1, 1}) == one);
}

}  // namespace
}  // namespace anabranch
