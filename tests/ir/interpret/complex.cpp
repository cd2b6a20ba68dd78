// Complex numbers in the interpreter and in text, by hand-stated values.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "tests/support/apply.h"

namespace anabranch {
namespace {

using C = std::complex<float>;
using Z = std::complex<double>;
constexpr float inf = std::numeric_limits<float>::infinity();

TEST(InterpretComplex, PartsAndArithmetic) {
  const Literal x = row<C>({{1, 2}, {0, -3}}), y = row<C>({{2, -1}, {4, 0.5f}});
  EXPECT_EQ(apply(Op::real, {x}), row<float>({1, 0}));
  EXPECT_EQ(apply(Op::imag, {x}), row<float>({2, -3}));
  EXPECT_EQ(apply(Op::complex, {row<double>({1, 2}), row<double>({-1, 0})}),
            row<Z>({{1, -1}, {2, 0}}));
  EXPECT_EQ(apply(Op::add, {x, y}), row<C>({{3, 1}, {4, -2.5f}}));
  EXPECT_EQ(apply(Op::subtract, {x, y}), row<C>({{-1, 3}, {-4, -3.5f}}));
  EXPECT_EQ(apply(Op::multiply, {x, y}), row<C>({{4, 3}, {1.5f, -12}}));
  EXPECT_EQ(apply(Op::divide, {row<C>({{4, 3}}), row<C>({{2, -1}})}), row<C>({{1, 2}}));
  EXPECT_EQ(apply(Op::negate, {x}), row<C>({{-1, -2}, {-0.0f, 3}}));
  EXPECT_EQ(apply(Op::abs, {row<C>({{3, -4}, {-inf, NAN}, {3e38f, 0}})}),
            row<float>({5, inf, 3e38f}));
  EXPECT_EQ(apply(Op::sign, {row<C>({{3, -4}, {0, 0}})}), row<C>({{0.6f, -0.8f}, {0, 0}}));
}

TEST(InterpretComplex, QuotientsKeepInfinitiesAndZeros) {
  const Literal x = row<C>({{1, 0}, {inf, 1}, {1, 1}}), y = row<C>({{0, 0}, {1, 1}, {inf, inf}});
  const Literal q = apply(Op::divide, {x, y});
  EXPECT_EQ(q.values<C>()[0].real(), inf);
  EXPECT_EQ(q.values<C>()[1].real(), inf);
  EXPECT_EQ(q.values<C>()[2], C(0));
}

TEST(InterpretComplex, ComparisonsAndConversions) {
  const Literal x = row<C>({{1, 2}, {1, 2}, {NAN, 0}}), y = row<C>({{1, 2}, {1, 3}, {NAN, 0}});
  EXPECT_EQ(apply(Op::compare, {x, y}, CompareAttributes{Comparison::eq}),
            row({true, false, false}));
  EXPECT_EQ(apply(Op::compare, {x, y}, CompareAttributes{Comparison::ne}),
            row({false, true, true}));
  EXPECT_EQ(apply(Op::is_finite, {row<C>({{1, 2}, {1, inf}, {NAN, 0}})}),
            row({true, false, false}));
  const Literal z = row<C>({{2.5f, -1}, {0, 1}, {0, 0}});
  const auto converted = [&](const Literal& from, Dtype to) {
    return apply(Op::convert, {from}, NoAttributes{}, Type{to, from.type().shape});
  };
  EXPECT_EQ(converted(z, f32), row<float>({2.5f, 0, 0}));
  EXPECT_EQ(converted(z, i32), row<std::int32_t>({2, 0, 0}));
  EXPECT_EQ(converted(z, bool_), row({true, true, false}));
  EXPECT_EQ(converted(z, c128), row<Z>({{2.5, -1}, {0, 1}, {0, 0}}));
  EXPECT_EQ(converted(row<std::int32_t>({3}), c64), row<C>({{3, 0}}));
}

TEST(InterpretComplex, ReductionsAndProducts) {
  const Literal x = row<C>({{1, 1}, {2, 0}, {0, 3}});
  EXPECT_EQ(apply(Op::reduce_sum, {x}, AxesAttributes{{0}}), Literal::scalar(C(3, 4)));
  EXPECT_EQ(apply(Op::reduce_product, {x}, AxesAttributes{{0}}), Literal::scalar(C(-6, 6)));
  EXPECT_EQ(apply(Op::dot, {x, x}, DotAttributes{{}, {}, {0}, {0}}), Literal::scalar(C(-5, 2)));
  const Literal none = grid<C>({0, 2}, {});
  EXPECT_EQ(apply(Op::reduce_sum, {none}, AxesAttributes{{0}}), row<C>({0, 0}));
  EXPECT_EQ(apply(Op::reduce_product, {none}, AxesAttributes{{0}}), row<C>({1, 1}));
}

TEST(InterpretComplex, PowersOfZeroAndByZero) {
  const Literal x = row<C>({{0, 0}, {0, 0}, {2, 1}}), y = row<C>({{0, 0}, {2, 1}, {0, 0}});
  EXPECT_EQ(apply(Op::power, {x, y}), row<C>({1, 0, 1}));
}

TEST(ComplexText, ReadsWhatItPrints) {
  const std::string text =
      "graph f(%0: c64[2]) {\n"
      "  %1: c64[2] = constant [(1, -2.5), (nan, -inf)]\n"
      "  %2: c128[3] = constant (0.1, -0)\n"
      "  %3: c64[2] = multiply %0, %1\n"
      "  return %3, %2\n"
      "}\n";
  EXPECT_EQ(to_string(parse(text)), text);
}

std::string message(const std::string& constant) {
  try {
    parse("graph f() {%0: c64[] = constant " + constant + " return %0}");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ComplexText, SaysWhatIsWrong) {
  EXPECT_EQ(message("1"),
            "line 1, column 33: expected '(' to open a complex number, as in (1, -2), found '1'");
  EXPECT_NE(message("(1)").find("between the parts of a complex number"), std::string::npos);
  EXPECT_NE(message("(1, x)").find("'x' is no f32"), std::string::npos);
  EXPECT_NE(message("(1, 1e39)").find("out of range for f32"), std::string::npos);
}

}  // namespace
}  // namespace anabranch
