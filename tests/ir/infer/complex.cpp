// Which ops take complex numbers, what they give, and what is said where they do not.
#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "ir/infer/infer.h"

namespace anabranch {
namespace {

std::string result(Op op, std::vector<Dtype> dtypes, Attributes attributes = NoAttributes{},
                   std::optional<Dtype> stated = std::nullopt) {
  std::vector<Type> operands;
  for (Dtype dtype : dtypes) operands.push_back({dtype, {2, 3}});
  std::optional<Type> type;
  if (stated) type = Type{*stated, {2, 3}};
  try {
    return to_string(infer(op, operands, attributes, type, {}, {})[0]);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(InferComplex, PartsAndWhatIsMadeOfThem) {
  EXPECT_EQ(result(Op::complex, {f32, f32}), "c64[2,3]");
  EXPECT_EQ(result(Op::complex, {f64, f64}), "c128[2,3]");
  EXPECT_EQ(result(Op::real, {c64}), "f32[2,3]");
  EXPECT_EQ(result(Op::imag, {c128}), "f64[2,3]");
  EXPECT_EQ(result(Op::abs, {c64}), "f32[2,3]");
  EXPECT_EQ(result(Op::is_finite, {c128}), "bool[2,3]");
  EXPECT_EQ(result(Op::exponential, {c64}), "c64[2,3]");
  EXPECT_EQ(result(Op::power, {c128, c128}), "c128[2,3]");
  EXPECT_EQ(result(Op::select, {bool_, c64, c64}), "c64[2,3]");
  EXPECT_EQ(result(Op::convert, {c64}, NoAttributes{}, f32), "f32[2,3]");
  EXPECT_EQ(result(Op::convert, {i32}, NoAttributes{}, c128), "c128[2,3]");
  EXPECT_EQ(result(Op::compare, {c64, c64}, CompareAttributes{Comparison::ne}), "bool[2,3]");
  EXPECT_EQ(result(Op::reduce_sum, {c64}, AxesAttributes{{0}}), "c64[3]");
  EXPECT_EQ(result(Op::reduce_product, {c64}, AxesAttributes{{1}}), "c64[2]");
  EXPECT_EQ(result(Op::dot, {c64, c64}, DotAttributes{{}, {}, {1}, {1}}), "c64[2,2]");
  EXPECT_EQ(result(Op::transpose, {c128}, AxesAttributes{{1, 0}}), "c128[3,2]");
}

TEST(InferComplex, SaysWhatDoesNotGo) {
  EXPECT_EQ(result(Op::complex, {f16, f16}),
            "complex: the parts must be f32 or f64: f16[2,3] x f16[2,3] (convert them first)");
  EXPECT_EQ(result(Op::complex, {f32, f64}),
            "complex: operand dtypes differ: f32[2,3] x f64[2,3] (f32 against f64; convert one of "
            "them first)");
  EXPECT_EQ(result(Op::real, {f32}),
            "real: takes complex numbers: f32[2,3] (of f32 or f64 the op complex makes one)");
  EXPECT_EQ(result(Op::compare, {c64, c64}, CompareAttributes{Comparison::lt}),
            "compare: complex numbers have no order: c64[2,3] x c64[2,3] (only eq and ne take "
            "them)");
  for (Op op : {Op::floor, Op::cbrt, Op::erf, Op::not_, Op::popcnt}) {
    EXPECT_EQ(result(op, {c64}), std::string(name(op)) +
                                     ": does not take complex numbers: c64[2,3] (real, imag and "
                                     "abs make real ones)");
  }
  for (Op op : {Op::maximum, Op::minimum, Op::remainder, Op::atan2, Op::and_, Op::shift_left}) {
    EXPECT_NE(result(op, {c128, c128}).find("does not take complex numbers"), std::string::npos)
        << name(op);
  }
  for (Op op : {Op::reduce_max, Op::reduce_min}) {
    EXPECT_NE(result(op, {c64}, AxesAttributes{{0}}).find("does not take complex numbers"),
              std::string::npos);
  }
  EXPECT_NE(result(Op::bitcast_convert, {c64}, NoAttributes{}, u64).find("does not take"),
            std::string::npos);
  EXPECT_NE(result(Op::bitcast_convert, {u64}, NoAttributes{}, c64).find("no other's bits"),
            std::string::npos);
}

}  // namespace
}  // namespace anabranch
