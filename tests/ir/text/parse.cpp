#include "ir/text/parse.h"

#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

TEST(Parse, ReadsTheFormOfTheDesign) {
  const std::string text =
      "graph layer(%0: f32[64,128], %1: f32[128,32]) {\n"
      "  %2: f32[64,32] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]\n"
      "  %3: f32[64,32] = tanh %2\n"
      "  return %3\n"
      "}\n";
  EXPECT_EQ(to_string(parse(text)), text);
}

TEST(Parse, TakesAnyNamesCommentsAndSpaces) {
  const Graph graph = parse(R"(# a comment
    graph f (%in: f32 [2]) { %half:f32[2]=constant 0.5 # half
      %out : f32[2] = multiply %in , %half return %out, %in })");
  EXPECT_EQ(to_string(graph),
            "graph f(%0: f32[2]) {\n"
            "  %1: f32[2] = constant 0.5\n"
            "  %2: f32[2] = multiply %0, %1\n"
            "  return %2, %0\n"
            "}\n");
}

TEST(Parse, NodesKnowTheirLineOfANamedFile) {
  const std::string text =
      "graph f(%0: f32[2]) {\n"
      "  # a comment\n"
      "  %1: f32[2] = tanh %0\n"
      "  %2: f32[2] = negate %1  return %2\n"
      "}\n";
  EXPECT_EQ(to_string(parse(text, "folder/f.abir").node(1).location), "f.abir:3");
  EXPECT_EQ(to_string(parse(text, "folder/f.abir").node(2).location), "f.abir:4");
  EXPECT_FALSE(parse(text).node(1).location);
}

TEST(Parse, MergesEqualNodes) {
  const Graph graph = parse(R"(graph(%x: f32[]) {
    %a: f32[] = tanh %x
    %b: f32[] = tanh %x
    return %a, %b
  })");
  EXPECT_EQ(graph.nodes().size(), 2u);
}

TEST(Parse, ReadsSeveralGraphs) {
  EXPECT_EQ(parse_all("").size(), 0u);
  const auto graphs = parse_all("graph a() { return } # between\ngraph b() { return }");
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_EQ(graphs[1].name(), "b");
}

TEST(Parse, ReadsConstantsOfAnyForm) {
  EXPECT_EQ(parse("graph() { %0: i32[2,2] = constant [[1, 2], [3, 4]] return %0 }")
                .node(0)
                .as<ConstantAttributes>()
                .value.values<std::int32_t>()[2],
            3);
  for (const char* empty : {"[]", "[[], []]", "1"}) {
    const Graph graph =
        parse("graph() { %0: f32[2,0] = constant " + std::string(empty) + " return %0 }");
    EXPECT_EQ(graph.type({0, 0}), (Type{f32, {2, 0}}));
  }
}

struct Bad {
  const char* name;
  std::string text;
  std::string message;
};

// The body of a graph over %x: f32[3], on line 2.
std::string body(const std::string& lines) { return "graph g(%x: f32[3]) {\n" + lines + "\n}"; }
std::string constant(const std::string& type, const std::string& value) {
  return "graph() {\n%c: " + type + " = constant " + value + " return %c}";
}

const Bad bads[] = {
    {"NoGraph", "", "line 1, column 1: expected 'graph', found the end of the text"},
    {"OtherText", "module @jit {", "line 1, column 1: expected 'graph', found 'module'"},
    {"TrailingText", "graph() { return }\n junk",
     "line 2, column 2: expected the end of the text after the graph, found 'junk'"},
    {"NoReturn", body("%y: f32[3] = tanh %x"),
     "line 3, column 1: expected a node, such as '%2: f32[3] = ...', or 'return', found '}'"},
    {"Unclosed", "graph() {\n  return",
     "line 2, column 9: expected '}' to close the graph after its 'return', found the end of the "
     "text"},
    {"AfterReturn", body("return %x\n%y: f32[3] = tanh %x"),
     "line 3, column 1: expected '}' to close the graph after its 'return', found '%y'"},
    {"UnknownOp", body("  %y: f32[3] = tangent %x"),
     "line 2, column 16: unknown op 'tangent'; docs/ir.md lists the ops"},
    {"ParameterAsOp", body("%y: f32[3] = parameter"),
     "line 2, column 14: parameters are written in the graph's head"},
    {"UnknownDtype", "graph(%x: float[3]) { return }",
     "line 1, column 11: unknown dtype 'float'; there are bool, i8, i16, i32, i64, u8, u16, u32, "
     "u64, f16, "
     "bf16, f32, f64"},
    {"NoSizes", "graph(%x: f32) { return }",
     "line 1, column 14: expected the sizes, such as [3,4], after f32, found ')'"},
    {"NegativeSize", "graph(%x: f32[-3]) { return }",
     "line 1, column 11: shape [-3]: a size is negative"},
    {"HugeSize", "graph(%x: f32[99999999999999999999]) { return }",
     "line 1, column 15: a size does not fit in 64 bits"},
    {"HugeProduct", "graph(%x: f32[1099511627776,1099511627776]) { return }",
     "line 1, column 11: shape [1099511627776,1099511627776]: more than 2^59 elements"},
    {"Undefined", body("%y: f32[3] = add %x, %z\nreturn %y"),
     "line 2, column 22: %z is not defined"},
    {"UndefinedOutput", body("return %z"), "line 2, column 8: %z is not defined"},
    {"Cycle", body("%y: f32[3] = tanh %z\n%z: f32[3] = tanh %y\nreturn %z"),
     "line 2, column 19: %z is used before its definition on line 3; a graph has no cycles"},
    {"CycleOfOne", body("%y: f32[3] = tanh %y\nreturn %y"),
     "line 2, column 19: %y is used before its definition on line 2; a graph has no cycles"},
    {"OuterValue",
     body("%y: f32[3] = fusion %x kind=elementwise graph(%a: f32[3]) {\n%b: f32[3] = tanh "
          "%x\nreturn %b }"),
     "line 3, column 19: %x belongs to a graph outside"},
    {"Duplicate", body("%y: f32[3] = tanh %x\n%y: f32[3] = exponential %x"),
     "line 3, column 1: %y is defined already, on line 2"},
    {"DuplicateParameter", "graph(%x: f32[], %x: f32[]) { return }",
     "line 1, column 18: %x is defined already, on line 1"},
    {"WrongShape", body("%y: f32[4] = tanh %x\nreturn %y"),
     "line 2, column 1: the text says that %y is f32[4], and tanh gives f32[3]"},
    {"WrongDtype", body("%y: f64[3] = tanh %x\nreturn %y"),
     "line 2, column 1: the text says that %y is f64[3], and tanh gives f32[3]"},
    {"TooManyResults", body("%y: f32[3], %z: f32[3] = tanh %x"),
     "line 2, column 1: tanh gives 1 result, and the text names 2"},
    {"RefusedOperands", body("%y: i32[4] = constant 0\n%z: f32[3] = add %x, %y"),
     "line 3, column 14: add: operand dtypes differ: f32[3] x i32[4]"},
    {"TooFewOperands", body("%y: f32[3] = add %x\nreturn %y"),
     "line 2, column 14: add: takes 2 operands and was given 1"},
    {"UnknownAttribute", body("%y: f32[] = reduce_sum %x axis=0\nreturn %y"),
     "line 2, column 27: unknown attribute 'axis'; reduce_sum takes axes"},
    {"AttributeOfNone", body("%y: f32[3] = tanh %x fast=1\nreturn %y"),
     "line 2, column 22: unknown attribute 'fast'; tanh takes no attributes"},
    {"AttributeTwice", body("%y: f32[] = reduce_sum %x axes=[0] axes=[0]"),
     "line 2, column 36: axes is given twice"},
    {"AttributeWithoutValue", body("%y: f32[] = reduce_sum %x axes [0]"),
     "line 2, column 32: expected '=' after axes, found '['"},
    {"MissingAttribute", body("%y: i32[] = argmax %x\nreturn %y"),
     "line 3, column 1: expected axis=... after argmax, found 'return'"},
    {"UnknownWord", body("%y: bool[3] = compare %x, %x direction=above"),
     "line 2, column 40: unknown direction 'above'; there are eq, ne, lt, le, gt, ge"},
    {"AxisOutOfRange", body("%y: f32[] = reduce_sum %x axes=[1]"),
     "line 2, column 13: reduce_sum: an axis of axes is out of range: f32[3] (1; the axes are 0 to "
     "0)"},
    {"AxisTooLarge", body("%y: f32[] = reduce_sum %x axes=[9223372036854775808]"),
     "line 2, column 33: the integer of axes does not fit in 64 bits"},
    {"MissingRegion", body("%y: f32[3] = fusion %x kind=elementwise\nreturn %y"),
     "line 3, column 1: expected the region of fusion, 'graph(...) {...}', found 'return'"},
    {"UnwantedRegion", body("%y: f32[3] = tanh %x graph() { return }"),
     "line 2, column 22: tanh takes no region"},
    {"TwoRegions",
     body("%y: f32[3] = fusion %x kind=elementwise graph(%a: f32[3]) { return %a } graph() { "
          "return }"),
     "line 2, column 73: fusion takes one region"},
    {"FusionThatReturnsAnOperand",
     body("%y: f32[3] = fusion %x kind=elementwise graph(%a: f32[3]) {\nreturn %a }\nreturn %y"),
     "line 2, column 14: fusion: the region cannot be one kernel: it hands on an operand: f32[3]"},
    {"FusionInAFusion",
     body("%y: f32[3] = fusion %x kind=elementwise graph(%a: f32[3]) {\n"
          "%b: f32[3] = fusion %a kind=elementwise graph(%c: f32[3]) {\n%d: f32[3] = tanh %c\n"
          "return %d }\nreturn %b }\nreturn %y"),
     "line 2, column 14: fusion: the region cannot be one kernel: fusion is a group already"},
    {"BranchInAFusion",
     body("%i: i32[] = constant 0\n"
          "%y: f32[3] = fusion %x, %i kind=elementwise graph(%a: f32[3], %b: i32[]) {\n"
          "%c: f32[3] = case %b, %a graph(%d: f32[3]) { return %d }\nreturn %c }\nreturn %y"),
     "line 3, column 14: fusion: the region cannot be one kernel: case runs programs of its own"},
    {"CallInAFusion",
     body("%y: f32[3] = fusion %x kind=elementwise graph(%a: f32[3]) {\n"
          "%b: f32[3] = custom_call %a name=sort results=[f32[3]]\nreturn %b }\nreturn %y"),
     "line 2, column 14: fusion: the region cannot be one kernel: custom_call is nothing that a "
     "kernel does"},
    {"ArrayInAFusion",
     body("%y: f32[3] = fusion %x kind=elementwise graph(%a: f32[3]) {\n"
          "%b: f32[3] = constant [1, 2, 3]\n%c: f32[3] = add %a, %b\nreturn %c }\nreturn %y"),
     "line 2, column 14: fusion: the region cannot be one kernel: constant is an array, which "
     "only an operand can be"},
    {"FusionOfAnotherKind",
     body("%y: f32[] = fusion %x kind=elementwise graph(%a: f32[3]) {\n"
          "%b: f32[] = reduce_sum %a axes=[0]\nreturn %b }\nreturn %y"),
     "line 2, column 13: fusion: the region is no elementwise group: f32[3] (write "
     "kind=reduction)"},
    {"ReductionInABody",
     body("%z: f32[] = constant 0\n%y: f32[] = reduce %x, %z axes=[0] graph(%a: f32[], %b: f32[]) "
          "{\n%c: f32[] = reduce_sum %a axes=[]\n%d: f32[] = add %b, %c\nreturn %d }\nreturn %y"),
     "line 3, column 13: reduce: the body holds reduce_sum, which cannot be computed for each "
     "element"},
    {"LoopInABody",
     body("%z: f32[] = constant 0\n%y: f32[] = reduce %x, %z axes=[0] graph(%a: f32[], %b: f32[]) "
          "{\n%c: f32[] = while %a graph(%a: f32[]) { %b: bool[] = constant false\nreturn %b }"
          " graph(%a: f32[]) { return %a }\n%d: f32[] = add %b, %c\nreturn %d }\nreturn %y"),
     "line 3, column 13: reduce: the body holds while, which cannot be computed for each element"},
    {"ArrayInABody",
     body("%z: f32[] = constant 0\n%y: f32[] = reduce %x, %z axes=[0] graph(%a: f32[], %b: f32[]) "
          "{\n%c: f32[2] = constant [1, 2]\n%e: f32[1] = slice %c start=[1] limit=[2] stride=[1]\n"
          "%f: f32[] = reshape %e\n%d: f32[] = add %b, %f\nreturn %d }\nreturn %y"),
     "line 3, column 13: reduce: the body holds constant, an array of different values, which "
     "cannot be computed for each element"},
    {"NoValueName", body("return %"), "line 2, column 8: a name must follow '%'"},
    {"UnclosedName", "graph \"half", "line 1, column 7: the string has no closing quote"},
    {"OddEscape", "graph \"\\q\"",
     "line 1, column 7: only \\\", \\\\ and \\xHH may follow a backslash"},
    {"NotBool", constant("bool[]", "1"), "line 2, column 23: '1' is neither true nor false"},
    {"NotInteger", constant("i32[]", "1.5"), "line 2, column 22: '1.5' is no i32"},
    {"NotFloat", constant("f32[]", "one"), "line 2, column 22: 'one' is no f32"},
    {"Infinity", constant("f32[]", "infinity"), "line 2, column 22: 'infinity' is no f32"},
    {"NoNumber", constant("f32[]", "\"x\""), "line 2, column 22: expected a number, found '\"'"},
    {"Below", constant("i8[]", "-129"), "line 2, column 21: '-129' is out of range for i8"},
    {"Above", constant("u8[]", "256"), "line 2, column 21: '256' is out of range for u8"},
    {"NegativeUnsigned", constant("u64[]", "-1"),
     "line 2, column 22: '-1' is out of range for u64"},
    {"AboveF16", constant("f16[]", "65520"), "line 2, column 22: '65520' is out of range for f16"},
    {"AboveBF16", constant("bf16[]", "3.4e38"), "'3.4e38' is out of range for bf16"},
    {"AboveF32", constant("f32[]", "1e39"), "line 2, column 22: '1e39' is out of range for f32"},
    {"BelowF32", constant("f32[]", "1e-60"), "'1e-60' is out of range for f32"},
    {"BelowF16", constant("f16[]", "1e-10"), "'1e-10' is out of range for f16"},
    {"AboveF64", constant("f64[]", "1e400"), "'1e400' is out of range for f64"},
    {"NaNTooWide", constant("f16[]", "nan(0x17e00)"), "holds no bits of a NaN of f16"},
    {"NaNOfANumber", constant("f32[]", "nan(0x3f800000)"), "holds no bits of a NaN of f32"},
    {"NaNOfNothing", constant("f32[]", "nan(0x)"), "needs hexadecimal digits"},
    {"NaNUnclosed", constant("f32[]", "nan(0x7fc00000"), "nan( needs its bits and a ')'"},
    {"TooFewElements", constant("f32[3]", "[1, 2]"),
     "line 2, column 23: axis 0 of f32[3] has 3 elements, and the text gives 2"},
    {"TooManyElements", constant("f32[2]", "[1, 2, 3]"),
     "line 2, column 23: axis 0 of f32[2] has 2 elements, and the text gives more"},
    {"ElementsOfNone", constant("f32[0]", "[1]"),
     "line 2, column 23: axis 0 of f32[0] has 0 elements, and the text gives more"},
    {"TooShallow", constant("f32[2,2]", "[1, 2]"),
     "expected '[' to open axis 1 of f32[2,2], found '1'"},
    {"TooDeep", constant("f32[1]", "[[1]]"), "nested deeper than the 1 axes of f32[1]"},
    {"TooDeepScalar", constant("f32[]", "[1]"), "nested deeper than the 0 axes of f32[]"},
    {"HugeConstant", constant("f32[1099511627776]", "0"),
     "a constant of f32[1099511627776] takes the constants of the text above 2^30 bytes; "
     "broadcast_in_dim makes one of a scalar"},
    {"HugeConstantsTogether",
     "graph() {\n  %0: f32[1] = constant 0\n  %1: u8[1073741821] = constant 0\n  return %0\n}",
     "line 3, column 33: a constant of u8[1073741821] takes the constants of the text above 2^30 "
     "bytes; broadcast_in_dim makes one of a scalar"},
};

class ParseRefuses : public testing::TestWithParam<Bad> {};

TEST_P(ParseRefuses, WithTheLineAndColumn) {
  try {
    parse(GetParam().text);
    FAIL() << "taken, instead of: " << GetParam().message;
  } catch (const Error& error) {
    const std::string found = error.what();
    EXPECT_NE(found.find(GetParam().message), std::string::npos) << found;
    EXPECT_TRUE(found.starts_with("line ")) << found;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ParseRefuses, testing::ValuesIn(bads),
                         [](const auto& info) { return info.param.name; });

std::string repeated(std::string_view piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

// None of these may recurse as deep as the text does.
TEST(Parse, RefusesTextNestedAHundredThousandDeep) {
  constexpr int deep = 100'000;
  const std::string brackets = repeated("[", deep);
  const std::string regions =
      repeated("graph(%a: f32[]) { %b: f32[] = fusion %a kind=elementwise ", deep);
  EXPECT_THROW(parse(regions), Error);
  EXPECT_THROW(parse(brackets), Error);
  EXPECT_THROW(parse("graph(" + repeated("(", deep)), Error);
  EXPECT_THROW(parse("graph(%a: f32" + brackets), Error);
  EXPECT_THROW(parse("graph() {" + repeated("{", deep)), Error);
  EXPECT_THROW(parse(constant("f32[1]", brackets)), Error);
  EXPECT_THROW(parse(body("%y: f32[] = reduce_sum %x axes=" + brackets)), Error);
  EXPECT_THROW(parse(constant("f32[" + repeated("1,", deep) + "1]", brackets)), Error);
  EXPECT_THROW(parse("graph " + repeated("\"", deep)), Error);
  EXPECT_THROW(parse(repeated("#", deep)), Error);
}

TEST(Parse, ReadsAHundredThousandNodes) {
  std::string text = "graph(%0: f32[]) {\n";
  constexpr int count = 100'000;
  for (int i = 1; i <= count; ++i) {
    text += "%" + std::to_string(i) + ": f32[] = add %" + std::to_string(i - 1) + ", %0\n";
  }
  const Graph graph = parse(text + "return %" + std::to_string(count) + "\n}\n");
  EXPECT_EQ(graph.nodes().size(), count + 1u);
  EXPECT_EQ(parse(to_string(graph)), graph);
}

// Any broken text gives an Error and nothing else.
TEST(Parse, SurvivesEveryCutAndEveryChangedByte) {
  const std::string text = R"(graph "a b"(%0: f32[2,1]) {
  %1: f32[2,1] = constant [[nan(0x7fc00001)], [-1e-3]] # c
  %2: f32[2] = fusion %0, %1 kind=reduction graph(%0: f32[2,1], %1: f32[2,1]) {
    %2: f32[2] = reduce_sum %0 axes=[1]
    return %2
  }
  return %2, %1
})";
  auto try_to_parse = [](const std::string& broken) {
    try {
      parse(broken);
    } catch (const Error&) {
    }
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_THROW(parse(text.substr(0, i)), Error) << i;
    for (char c :
         {'[', ']', '{', '}', '(', '"', '%', '#', '9', '-', ',', 'x', '\\', '\0', '\xff', ' '}) {
      std::string changed = text;
      changed[i] = c;
      EXPECT_NO_THROW(try_to_parse(changed)) << i << " " << c;
    }
  }
}

}  // namespace
}  // namespace anabranch
