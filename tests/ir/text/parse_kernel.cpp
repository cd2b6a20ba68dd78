// Kernel text, read back.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "anabranch/error.h"
#include "ir/text/parse.h"

namespace anabranch {
namespace {

const std::string everything =
    R"(kernel all(in in0: f32[4096], in in1: i32[1], out out0: f32[4096], out out1: i64[64], scratch scratch0: f32[64]) {
  %0: i32 = load in1[0]
  %1: i64 = convert %0
  %2: i64 = clamp 0, %1, 63
  for i < 64 parallel {
    for j < 64 vector(16) unroll(2) {
      %3: f32 = load in0[(%i * 3 + %j) / 2 + min(%j, 8)] prefetch(64)
      %4: bool = compare %j, 5 direction=lt
      %5: f32 = load in0[3 + %2 + %j % 4] if %4
      %6: f32 = select %4, %3, 0.5
      store scratch0[%j] = %6
      sum %7: f32 = %5 from 0
    }
    for 8 <= j < 24 {
      %8: i64 = index 7 + %j * 2
      %9: f32 = convert %8
      store out0[%i * 64 + %j] = %9 non_temporal
    }
    for j < 3 by %10: f32, %11: f32, %12: i64 {
      %13: f32 = load in0[%j]
      %14: f32 = maximum %10, %13
      store out0[%i * 64 + %j] = %11
      carry %15: f32, %16: f32 = %14, %10 from %7, 0.5
      argmax %17: f32, %18: i64 = %13, %j from -inf, 0
      carry %19: i64 = %12 from 3
    }
    %20: f32 = add %15, %17
    %21: i64 = convert f32 1.5
    %22: i64 = add %18, %21
    store out1[%i] = %22
    store out0[%i] = %20
    for j by %23: bool, %24: f32 {
      %25: f32 = add %24, 1
      %26: bool = compare %25, %15 direction=lt
      while %27: bool = %26 from true
      carry %28: f32 = %25 from 0.5
    }
    store out0[1 + %i] = %28
  }
}
)";

std::string error_of(const std::string& text) {
  try {
    parse_kernels(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(ParseKernels, ReadsWhatIsPrinted) {
  const std::vector<Kernel> kernels = parse_kernels(everything);
  ASSERT_EQ(kernels.size(), 1u);
  verify(kernels[0]);
  EXPECT_EQ(to_string(kernels[0], false), everything);
  EXPECT_EQ(to_string(parse_kernels(to_string(kernels[0]))[0], false), everything);
}

TEST(ParseKernels, ReadsWhereScalarsOfManyPlacesAreRead) {
  const std::string taken =
      "kernel taken(in in0: i64[8], in in1: f32[64], out out0: f32[32]) {\n"
      "  for i < 8 parallel {\n    %0: i64 = load in0[%i]\n    %1: i64 = clamp 0, %0, 15\n"
      "    for j < 4 vector(4) {\n      %2: f32 = load in1[%1[%i] * 4 + %j]\n"
      "      store out0[%i * 4 + %j] = %2\n    }\n  }\n}\n";
  const Kernel kernel = parse_kernels(taken).at(0);
  EXPECT_EQ(to_string(kernel), taken);
  const Ref outer = kernel.body.back();
  const Ref inner = std::get<Loop>(kernel[outer].operation).body.back();
  const auto& load =
      std::get<Load>(kernel[std::get<Loop>(kernel[inner].operation).body.front()].operation);
  EXPECT_TRUE(kernel.indices.depends_on(load.index, outer.index));
  EXPECT_FALSE(kernel.indices.is_linear_in(load.index, outer.index));
  EXPECT_TRUE(kernel.indices.is_linear_in(load.index, inner.index));
}

TEST(ParseKernels, ReadsThreads) {
  const std::string tiles =
      "kernel k(in a: f32[96], out b: f32[96]) threads(groups=32 members=8 tile_rows=2 "
      "tile_columns=1 block_threads=0) {\n"
      "  for i < 1 parallel {\n    for j < 48 {\n      for k < 2 {\n"
      "        %0: f32 = load a[%j + %k * 48]\n        store b[%j * 2 + %k] = %0\n"
      "      }\n    }\n  }\n}\n";
  const Kernel kernel = parse_kernels(tiles).at(0);
  EXPECT_EQ(kernel.threads,
            (ThreadMap{.groups = 32, .members = 8, .tile_rows = 2, .tile_columns = 1}));
  EXPECT_EQ(to_string(kernel), tiles);
  std::string columns =
      "kernel k() threads(groups=32 members=2 in_columns=true tile_rows=0 "
      "tile_columns=0 block_threads=256) {\n}\n";
  EXPECT_EQ(to_string(parse_kernels(columns).at(0)), columns);
  std::string wrong = tiles;
  wrong.replace(wrong.find("tile_rows=2"), 11, "tile_rows=3");
  EXPECT_NE(error_of(wrong).find("other numbers of tiles"), std::string::npos) << error_of(wrong);
  EXPECT_NE(error_of("kernel k() threads(groups=1) {\n}\n").find("members=..."), std::string::npos);
}

TEST(ParseKernels, ReadsSeveral) {
  const std::string none = "kernel none() {\n}\n";
  const std::vector<Kernel> kernels = parse_kernels("# first\n" + none + everything + none);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(to_string(kernels[2]), none);
  EXPECT_TRUE(parse_kernels("").empty());
}

struct Broken {
  const char* name;
  const char* body;
  const char* what;
};

class BrokenKernels : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenKernels, AreErrorsWithTheirPlace) {
  const std::string text =
      std::string("kernel k(in a: f32[8], out b: f32[8]) {\n") + GetParam().body + "\n}\n";
  const std::string error = error_of(text);
  EXPECT_NE(error.find("line "), std::string::npos) << error;
  EXPECT_NE(error.find(GetParam().what), std::string::npos) << error;
}

const Broken broken[] = {
    {"UnknownBuffer", "%0: f32 = load c[0]", "there is no buffer c"},
    {"UnknownOp", "%0: f32 = frobnicate 1", "'frobnicate' is no elementwise op"},
    {"OpThatIsNotElementwise", "%0: f32 = dot %1, %2", "'dot' is no elementwise op"},
    {"UndefinedScalar", "store b[0] = %4", "%4 is not defined here"},
    {"UndefinedLoop", "store b[%i] = 0", "%i is not defined here"},
    {"DefinedTwice", "%0: f32 = load a[0]\n%0: f32 = load a[1]", "%0 is defined already"},
    {"ScalarThatIsNotClamped", "%0: f32 = load a[0]\nstore b[%0] = 1", "no i64 that a clamp"},
    {"AnOperandTooFew", "%0: f32 = load a[0]\n%1: f32 = add %0",
     "add takes 2 operands, and 1 are given"},
    {"AScalarThatIsClampedByNothing", "%0: i64 = clamp i64 1\nstore b[%0] = 1",
     "clamp takes 3 operands, and 1 are given"},
    {"ConstantOfNoDtype", "%0: f32 = add 1, 2", "whose dtype is not known"},
    {"UnknownDtype", "%0: f31 = load a[0]", "unknown dtype 'f31'"},
    {"DivisorOfZero", "for i < 8 { store b[%i / 0] = 1 }", "a divisor is positive"},
    {"FactorThatIsTooLarge", "for i < 8 { store b[%i * 4611686018427387904 * 4] = 1 }",
     "leaves 64 bits"},
    {"WidthThatIsTooLarge", "for i < 8 vector(9999999999) { }", "too large"},
    {"CarryOfNoArgument", "for i < 8 {\n%0: f32 = load a[%i]\ncarry %1: f32 = %0 from 0\n}",
     "what the loop says after 'by'"},
    {"ArgumentOfNoCarry",
     "for i < 8 by %0: f32 {\n%1: f32 = load a[%i]\nsum %2: f32 = %1 from 0\n}",
     "a carry for each argument of the loop"},
    {"CarryOfAnotherDtype", "for i < 8 by %0: f32 {\ncarry %1: i64 = %i from 0\n}",
     "is something else, or not i64"},
    {"LoopWithoutAnEnd", "for i {\n%0: f32 = load a[0]\nsum %1: f32 = %0 from 0\n}",
     "a loop has a condition and a bound, or neither"},
    {"ConditionAndBound", "for i < 8 by %0: bool {\nwhile %1: bool = %0 from true\n}",
     "a loop has a condition and a bound, or neither"},
    {"ConditionThatIsANumber", "for i by %0: f32 {\nwhile %1: f32 = %0 from 0\n}",
     "a reduction does not take f32"},
    {"TwoConditions",
     "for i by %0: bool, %1: bool {\n"
     "while %2: bool = %0 from true\nwhile %3: bool = %1 from true\n}",
     "a loop has two conditions"},
    {"SumUntilACondition",
     "for i by %0: bool {\n%1: f32 = load a[0]\n"
     "while %2: bool = %0 from true\nsum %3: f32 = %1 from 0\n}",
     "a loop with a condition reduces"},
    {"LanesOfACondition", "for i vector(8) by %0: bool {\nwhile %1: bool = %0 from true\n}",
     "a loop with a condition is parallel"},
    {"IndexOfNoBound",
     "for i by %0: bool {\n%1: f32 = load a[%i]\nstore b[0] = %1\n"
     "while %2: bool = %0 from true\n}",
     "the index of a load of a takes the index of a loop that has no bound"},
    {"ExtentBeyond64Bits", "for -9223372036854775808 <= i < 1 {\n}",
     "line 2, column 33: the loop's extent leaves 64 bits"},
    {"UnboundedFromTheLastNumber", "for 9223372036854775807 <= i {\n}",
     "a loop has a condition and a bound, or neither"},
    {"WhatVerifyRefuses", "%0: f32 = load a[0]\nstore a[0] = %0", "only read"},
    {"StatementAfterAReduction",
     "for i < 8 {\n%0: f32 = load a[%i]\nsum %1: f32 = %0 from 0\nstore b[0] = %0 }",
     "a reduction or '}'"},
};

INSTANTIATE_TEST_SUITE_P(Table, BrokenKernels, ::testing::ValuesIn(broken),
                         [](const auto& tested) { return std::string(tested.param.name); });

// A kernel that stores at this index of %i and of the scalar %1.
std::string with_index(const std::string& index) {
  return "kernel k(in in0: i64[8], out out0: f32[8]) {\n  %0: i64 = load in0[0]\n"
         "  %1: i64 = clamp 0, %0, 7\n  for i < 8 {\n    store out0[" +
         index + "] = 1\n  }\n}\n";
}

TEST(ParseKernels, RefusesIndicesThatNestWithoutBrackets) {
  std::string chain = "%i";
  for (int i = 0; i < 100'000; ++i) chain += " * 3 % 7";
  EXPECT_NE(error_of(with_index(chain)).find("line 5, column "), std::string::npos);
  EXPECT_NE(error_of(with_index(chain)).find("nested too deep"), std::string::npos);
  std::string scalars;
  for (int i = 0; i < 100'000; ++i) scalars += "%1[";
  EXPECT_NE(error_of(with_index(scalars)).find("nested too deep"), std::string::npos);
}

TEST(ParseKernels, ReadsAndPrintsIndicesAsDeepAsTheBound) {
  std::string chain = "%i", scalars = "%i";
  for (int i = 0; i < 60; ++i) {
    chain += " * 3 % 7";
    scalars = "%1[" + scalars + "]";
  }
  for (const std::string& index : {chain, scalars}) {
    const std::string text = with_index(index);
    EXPECT_EQ(to_string(parse_kernels(text)[0]), text);
  }
}

// Hostile text is refused: never a crash, never without end.
TEST(ParseKernels, SurvivesAnyText) {
  for (std::size_t end = 0; end < everything.size(); ++end) {
    try {
      parse_kernels(std::string_view(everything).substr(0, end));
    } catch (const Error&) {
    }
  }
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int i = 0; i < 3000; ++i) {
    std::string text = everything;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(text.size());
      switch (below(3)) {
        case 0:
          text.erase(at, 1 + below(12));
          break;
        case 1:
          text[at] = "%(){}[]<=*/+,:0129ijx"[below(21)];
          break;
        default:
          text.insert(at, everything.substr(below(everything.size()), below(20)));
      }
    }
    try {
      for (const Kernel& kernel : parse_kernels(text)) verify(kernel);
    } catch (const Error&) {
    }
  }
  EXPECT_FALSE(error_of("kernel k() {" + std::string(5000, '(')).empty());
  std::string deep = "kernel k(out b: f32[8]) {";
  for (int i = 0; i < 5000; ++i) deep += " for i < 2 {";
  EXPECT_NE(error_of(deep).find("nested more than"), std::string::npos);
  deep = "kernel k(out b: f32[8]) { store b[";
  EXPECT_NE(error_of(deep + std::string(5000, '(')).find("nested too deep"), std::string::npos);
}

}  // namespace
}  // namespace anabranch
