// What is said about a text that is wrong, or that cannot be translated.
#include <gtest/gtest.h>

#include "frontend/stablehlo/parser.h"
#include "tests/frontend/stablehlo/run_text.h"

namespace {

using anabranch::testing::error_of;

void expect_error(const std::string& text, const std::string& part) {
  const std::string error = error_of(text);
  EXPECT_NE(error.find(part), std::string::npos) << "no '" << part << "' in: " << error;
}

// Of one line within a function.
void expect_error_in(const std::string& line, const std::string& part) {
  expect_error(
      "func.func @main(%x: tensor<2xf32>, %i: tensor<2xi32>) {\n  " + line + "\n  return\n}\n",
      part);
}

TEST(StablehloErrors, SayWhereAndWhatWasExpected) {
  EXPECT_EQ(error_of("func.func @main() {\n  %0 = stablehlo.add %x : ;\n}"),
            "test.mlir:2:27: expected a type, such as tensor<2x3xf32>, found ';'\n"
            "    %0 = stablehlo.add %x : ;");
  expect_error("nonsense",
               "test.mlir:1:1: expected a module, a function (func.func @name) or an "
               "alias (#name = ...), found 'nonsense'");
  expect_error("func.func @main() {",
               "expected an operation, such as stablehlo.add, found the end");
  expect_error("module {", "found the end of the text");
  expect_error("func.func main() {}", "expected the name of a function, such as @main");
  expect_error_in("%0 = stablehlo.add %x, %x", "expected ':' and the types of stablehlo.add");
  expect_error_in("%0 = \"stablehlo.add\" %x", "after the name of an operation in quotes");
  expect_error_in("%0 stablehlo.add", "expected '=' after the names of results");
  expect_error_in("%0 = stablehlo.custom_call @f(%x) {a = \"b} : () -> ()",
                  "the string has no end");
  expect_error_in("%0 = stablehlo.constant dense<[1.0> : tensor<1xf32>", "closes a bracket");
  expect_error("#a = dense<1.0 : tensor<1xf32>",
               "test.mlir:1:11: '<' is never closed; write the '>'");
  expect_error_in("%0:0 = stablehlo.add %x, %x : tensor<2xf32>", "a name stands for 0 results");
  expect_error_in("\"stablehlo.case\"(%x)[^a, ^b] : () -> ()", "successors");
}

TEST(StablehloErrors, Constants) {
  const auto constant = [](const std::string& dense) {
    return "%0 = stablehlo.constant dense<" + dense;
  };
  expect_error_in(constant("[1, 2, 3]> : tensor<2xi32>"),
                  "test.mlir:2:33: 3 elements along axis 0 of tensor<2xi32>, which has 2");
  expect_error_in(constant("[[1], [2]]> : tensor<2xi32>"), "a list inside the lists of");
  expect_error_in(constant("300> : tensor<2xi8>"), "'300' is no integer of i8");
  expect_error_in(constant("-1> : tensor<2xui8>"), "'-1' is no integer of ui8");
  expect_error_in(constant("1.5> : tensor<2xi32>"), "'1.5' is no integer of i32");
  expect_error_in(constant("[1.0, x]> : tensor<2xf32>"), "expected a number of f32, found 'x'");
  expect_error_in(constant("0x1FFFFFFFF> : tensor<2xf32>"), "are more bits than f32 has");
  expect_error_in(constant("\"0x00\"> : tensor<2xf32>"),
                  "1 bytes for tensor<2xf32>, which takes 8");
  expect_error_in(constant("\"zz\"> : tensor<2xf32>"), "is hexadecimal bytes");
  expect_error_in(constant("> : tensor<2xf32>"), "dense<> has no elements");
  expect_error_in("%0 = stablehlo.constant dense_resource<none> : tensor<2xf32>",
                  "there is no resource none");
}

TEST(StablehloErrors, Types) {
  expect_error("func.func @main(%x: tensor<?x2xf32>) { return }",
               "test.mlir:1:21: tensor<?x2xf32> has a dynamic size; export the program for static");
  expect_error("func.func @main(%x: tensor<*xf32>) { return }", "tensor<*xf32> has a dynamic size");
  expect_error("func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) { return }",
               "is quantized, and quantized types are not read");
  expect_error("func.func @main(%x: tensor<2xfunny>) { return }",
               "there is no element type funny here");
  expect_error("func.func @main(%x: tensor<99999999999999999999xf32>) { return }", "above 2^63");
  expect_error("func.func @main(%x: tensor<999999999999x999999999999xf32>) { return }",
               "test.mlir:1:21: ");
  expect_error_in(
      "%0 = stablehlo.dynamic_reshape %x, %i : (tensor<2xf32>, tensor<2xi32>) -> "
      "tensor<?x?xf32>",
      "stablehlo.dynamic_reshape: ");
}

TEST(StablehloErrors, Names) {
  expect_error_in("%0 = stablehlo.add %x, %y : tensor<2xf32>",
                  "test.mlir:2:26: there is no value %y here; define it before its use");
  expect_error_in("%0 = stablehlo.add %x#1, %x : tensor<2xf32>", "there is no #1");
  expect_error_in("%x = stablehlo.add %x, %x : tensor<2xf32>", "%x has a value already");
  expect_error_in("%0 = call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>",
                  "there is no function @f in the module");
  expect_error("func.func @f() { return }\nfunc.func @f() { return }",
               "@f is defined on line 1, too");
  expect_error(
      "func.func @f() { call @g() : () -> ()\n return }\n"
      "func.func @g() { call @f() : () -> ()\n return }",
      "calls itself; write the recursion as a stablehlo.while");
  expect_error("func.func private @g()\nfunc.func @f() { call @g() : () -> ()\n return }",
               "is declared and has no body");
}

TEST(StablehloErrors, Operations) {
  expect_error_in("%0 = stablehlo.addd %x, %x : tensor<2xf32>",
                  "there is no operation stablehlo.addd");
  expect_error_in("%0 = arith.addf %x, %x : tensor<2xf32>", "there is no operation arith.addf");
  expect_error_in("%0 = stablehlo.add %x, %i : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>",
                  "test.mlir:2:8: ");
  expect_error_in("%0 = stablehlo.add %x : tensor<2xf32>", "takes 2 operands, and has 1");
  expect_error_in("%0 = stablehlo.add %x, %x : tensor<3xf32>",
                  "result 0 is tensor<2xf32>, and the text states tensor<3xf32>");
  expect_error_in("%0 = stablehlo.transpose %x, dims = [1] : (tensor<2xf32>) -> tensor<2xf32>",
                  "test.mlir:2:8: ");
  expect_error_in(
      "%0 = stablehlo.compare XX, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>",
      "there is no comparison XX");
  expect_error_in("%0 = stablehlo.custom_call @mystery(%x) : (tensor<2xf32>) -> tensor<2xf32>",
                  "there is no function @mystery here; register one with "
                  "ab::stablehlo::register_custom_call(\"mystery\", ...)");
  expect_error_in(
      "%0 = stablehlo.reshape %x : (tensor<2xf32>) -> tensor<1x2xf32>\n"
      "%1 = stablehlo.slice %0 [0:1, 0:1] : (tensor<1x2xf32>) -> tensor<1x1xf32>\n"
      "%2:6 = stablehlo.custom_call @lapack_sgees_ffi(%1) {mhlo.backend_config = {mode "
      "= 86 : ui8, sort = 83 : ui8}} : (tensor<1x1xf32>) -> (tensor<1x1xf32>, "
      "tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<i32>, tensor<i32>)",
      "sort = 'S'");
  expect_error_in(
      "%0 = \"stablehlo.all_reduce\"(%x) ({}) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} "
      ": (tensor<2xf32>) -> tensor<2xf32>",
      "communicates with other devices");
  expect_error_in(
      "%0 = \"stablehlo.collective_permute\"(%x) {source_target_pairs = dense<[[0, 1]]> : "
      "tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>",
      "communicates with other devices");
  expect_error_in("%0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2xf32>",
                  "works on quantized types");
  // By its name, before the types of its results.
  expect_error_in(
      "%0 = \"stablehlo.async_start\"(%x) ({\n^bb0(%a: tensor<2xf32>):\n"
      "stablehlo.return %a : tensor<2xf32>\n}) : (tensor<2xf32>) -> "
      "!stablehlo.future<tensor<2xf32>>",
      "test.mlir:2:8: stablehlo.async_start: starts an operation here and waits for it elsewhere");
  expect_error_in(
      "%0 = stablehlo.async_wait %x : tensor<2xf32> -> !stablehlo.future<tensor<2xf32>>",
      "test.mlir:2:8: there is no operation stablehlo.async_wait");
  expect_error_in("check.expect_serialized_eq %x, probe_id = \"a\" : tensor<2xf32>",
                  "check.expect_serialized_eq is not read");
}

TEST(StablehloErrors, ManualComputationsOfSeveralDevices) {
  const auto computed = [](const std::string& mesh, const std::string& sharding,
                           const std::string& part) {
    return mesh + "\nfunc.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n" +
           "  %0 = sdy.manual_computation(%x) in_shardings=[" + sharding + "] out_shardings=[" +
           sharding + "] manual_axes={\"y\", \"x\"} (%a: tensor<" + part +
           ">) {\n    sdy.return %a : tensor<" + part +
           ">\n  } : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
  };
  const std::string of_two =
      "test.mlir:3:8: sdy.manual_computation: its mesh has 2 devices along \"x\"";
  const std::string mesh = "sdy.mesh @mesh = <[\"x\"=2, \"y\"=1]>";
  expect_error(computed(mesh, "<@mesh, [{\"x\"}]>", "2xf32"), of_two);
  expect_error(
      computed("\"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=2]>, sym_name = \"m\"}> : () -> ()",
               "<@m, [{\"x\"}]>", "2xf32"),
      of_two);
  expect_error(computed("", "<mesh<[\"x\"=2]>, [{\"x\"}]>", "2xf32"), of_two);
  expect_error(computed("", "<@mesh, [{\"x\"}]>", "2xf32"),
               "test.mlir:3:8: the region of sdy.manual_computation: argument 0 is tensor<4xf32>, "
               "and %a is tensor<2xf32>");
  expect_error_in(
      "sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {\n"
      "%0 = stablehlo.abs %x : tensor<2xf32>\nsdy.return\n} : () -> ()",
      "test.mlir:3:20: there is no value %x here");
  expect_error_in("sdy.manual_computation(%x) in_shardings=[] (%a: tensor<2xf32>) {}",
                  "expected the word out_shardings");
  // One that is never called is read over.
  const std::string text = computed(mesh, "<@mesh, [{\"x\"}]>", "2xf32");
  EXPECT_EQ(anabranch::stablehlo::parse(text).functions().size(), 1u);
}

TEST(StablehloErrors, RaggedProducts) {
  const auto expect = [](const std::string& axes, const std::string& groups,
                         const std::string& part) {
    expect_error("func.func @main(%x: tensor<4x3xf32>, %y: tensor<2x3x5xf32>, %g: " + groups +
                     ") {\n  %0 = \"chlo.ragged_dot\"(%x, %y, %g) <{ragged_dot_dimension_numbers = "
                     "#chlo.ragged_dot<" +
                     axes + ">}> : (tensor<4x3xf32>, tensor<2x3x5xf32>, " + groups +
                     ") -> tensor<4x5xf32>\n  return\n}\n",
                 part);
  };
  const std::string product = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]";
  const std::string rows = product + ", lhs_ragged_dimensions = [0], rhs_group_dimensions = ";
  expect(rows + "[0]", "tensor<3xi32>", "3 groups, and the right operand has 2 matrices");
  expect(rows + "[0]", "tensor<2xf32>", "have to be a list of integers");
  expect(rows + "[0]", "tensor<i32>", "have to be a list of integers");
  expect(rows + "[0]", "tensor<4x2xi32>", "have to be tensor<2xi32>");
  expect(rows + "[]", "tensor<2xi32>", "needs one axis as rhs_group_dimensions");
  expect(rows + "[1]", "tensor<2xi32>", "axis 1 of the right operand is of the product");
  expect(rows + "[7]", "tensor<2xi32>", "there is no axis 7 of tensor<2x3x5xf32>");
  expect(product + ", lhs_ragged_dimensions = [0, 1]", "tensor<2xi32>",
         "needs one axis as lhs_ragged_dimensions, and has 2");
  expect(product + ", lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]", "tensor<2xi32>",
         "takes rhs_group_dimensions only where rows are ragged");
}

TEST(StablehloErrors, LapackTakesMatrices) {
  const auto refused = [](const std::string& target, const std::string& type) {
    return error_of("func.func @main(%x: " + type + ") {\n  %0 = stablehlo.custom_call @lapack_s" +
                    target + "_ffi(%x) {mhlo.backend_config = {mode = 78 : ui8}} : (" + type +
                    ") -> " + type + "\n  return\n}\n");
  };
  for (const char* target :
       {"potrf", "getrf", "geqrf", "gesdd", "syevd", "geev", "gees", "gehrd", "sytrd"}) {
    for (const char* type : {"tensor<f32>", "tensor<3xf32>"}) {
      EXPECT_EQ(refused(target, type).substr(0, 14), "test.mlir:2:8:") << target;
      EXPECT_NE(refused(target, type)
                    .find("@lapack_s" + std::string(target) +
                          "_ffi takes matrices, of at least two axes, and has " + type),
                std::string::npos)
          << refused(target, type);
    }
  }
  for (const char* target : {"gehrd", "sytrd", "syevd"}) {
    EXPECT_NE(
        refused(target, "tensor<2x3xf32>").find("takes square matrices, and has tensor<2x3xf32>"),
        std::string::npos)
        << refused(target, "tensor<2x3xf32>");
  }
  EXPECT_EQ(refused("gehrd", "tensor<3x3xf32>"), "");
}

TEST(StablehloErrors, TextThatNestsIsRefused) {
  std::string types = "tensor<2xf32>";
  for (int i = 0; i < 100'000; ++i) types = "(" + types;
  expect_error("func.func @main(%x: " + types, "nested more than");
  std::string lists;
  for (int i = 0; i < 100'000; ++i) lists += "[";
  expect_error("#a = " + lists, "nested more than");
  std::string modules;
  for (int i = 0; i < 100'000; ++i) modules += "module {";
  expect_error(modules, "nested more than");
  expect_error_in("%0 = stablehlo.abs " + std::string(100'000, '('), "nested more than 96 deep");
  std::string axes = "tensor<";
  for (int i = 0; i < 100'000; ++i) axes += "1x";
  expect_error("func.func @main(%x: " + axes + "f32>) { return }", "axes; at most 64");
}

// Each alias stands for twice the one before, or for the one before in brackets.
TEST(StablehloErrors, AliasesAreBounded) {
  const auto chain = [](char mark, const std::string& first, const std::string& open,
                        const std::string& close, int count, bool doubles) {
    const auto name = [&](int i) { return std::string(1, mark) + "a" + std::to_string(i); };
    std::string text = name(0) + " = " + first + "\n";
    for (int i = 1; i < count; ++i) {
      const std::string before = name(i - 1);
      text += name(i) + " = " + open + before + (doubles ? ", " + before : "") + close + "\n";
    }
    return text;
  };
  const std::string scalar = "tensor<1xf32>";
  expect_error(chain('!', scalar, "tuple<", ">", 40, true), "aliases stand for more than");
  expect_error(chain('#', "1", "[", "]", 40, true), "aliases stand for more than");
  expect_error(chain('#', "\"s\"", "{a = ", "}", 200, false), "nests brackets more than 96 deep");
  expect_error(chain('!', scalar, "tuple<", ">", 200, false), "nests brackets more than 96 deep");
  EXPECT_EQ(error_of(chain('!', scalar, "tuple<", ">", 90, false)), "");
  EXPECT_EQ(error_of(chain('#', "1", "[", "]", 15, true)), "");
  EXPECT_EQ(error_of("!t = tensor<f32>\n!t = tuple<!t>").substr(0, 48),
            "test.mlir:2:1: the alias t is defined already\n  ");
  expect_error("#a = 1\n#a = [#a]", "test.mlir:2:1: the alias a is defined already");
}

TEST(StablehloErrors, EachResultHasAType) {
  std::string names = "%a0:1048576";
  for (int i = 1; i < 100; ++i) names += ", %a" + std::to_string(i) + ":1048576";
  expect_error_in(names + " = stablehlo.add %x, %x : tensor<2xf32>",
                  "names 104857600 results, and does not state a type for each");
  expect_error_in("%a:2 = stablehlo.constant dense<1.0> : tensor<f32>", "names 2 results");
}

// A program that takes `%x: tensor<4xf32>`, with comparators @cmp and @pair.
void expect_error_of_four(const std::string& line, const std::string& part) {
  expect_error(
      "func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) {\n  " + line +
          "\n  return\n}\n"
          "func.func private @cmp(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {\n"
          "  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
          "  return %0 : tensor<i1>\n}\n"
          "func.func private @pair(%a: tensor<f32>, %b: tensor<f32>) -> tuple<tensor<f32>> {\n"
          "  %0 = stablehlo.tuple %a : tuple<tensor<f32>>\n"
          "  return %0 : tuple<tensor<f32>>\n}\n",
      part);
}

TEST(StablehloErrors, GreatestElements) {
  const auto approximate = [](const std::string& comparator, const std::string& axis,
                              const std::string& result) {
    return "%0 = stablehlo.custom_call @ApproxTopK(%x, %z) {called_computations = [@" + comparator +
           "], mhlo.backend_config = {reduction_dim = " + axis +
           "}} : (tensor<4xf32>, tensor<f32>) -> " + result;
  };
  expect_error_of_four(approximate("cmp", "0 : i64", "tensor<f32>"),
                       "gives f32[] of f32[4], which has other axes");
  expect_error_of_four(approximate("cmp", "[]", "tensor<2xf32>"),
                       "reduction_dim has to be one integer");
  expect_error_of_four(approximate("cmp", "1 : i64", "tensor<2xf32>"), "is no axis");
  expect_error_of_four(approximate("pair", "0 : i64", "tensor<2xf32>"),
                       "its comparator has to return one value");
  expect_error_of_four(
      "%0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = []}} : (tensor<4xf32>) "
      "-> (tensor<2xf32>, tensor<2xi32>)",
      "the attribute k has to be one integer");
}

// A reduction of `%x: tensor<2xf32>` by a body over %a and %b.
void expect_error_of_body(const std::string& body, const std::string& part) {
  expect_error_in(
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%0 = \"stablehlo.reduce\"(%x, %z) <{dimensions = array<i64: 0>}> ({\n"
      "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n" +
          body + "\n}) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
      part);
}

TEST(StablehloErrors, BodiesOfReductions) {
  const std::string sum = "%c = stablehlo.add %a, %b : tensor<f32>\n";
  expect_error_of_body(sum + "%d = stablehlo.abs %c : tensor<f32>", "a region without a return");
  expect_error_of_body(sum + "stablehlo.return %c#1 : tensor<f32>", "there is no #1");
  expect_error_of_body(
      "%c = stablehlo.add %a#1, %b : tensor<f32>\nstablehlo.return %c : tensor<f32>",
      "there is no #1");
  expect_error_of_body("%c = arith.add %a, %b : tensor<f32>\nstablehlo.return %c : tensor<f32>",
                       "there is no operation arith.add");
}

TEST(StablehloErrors, PaddingsAreInPairs) {
  const std::string odd = "padding = array<i64: 1, 1, 1>";
  const std::string body =
      "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "%c = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %c : tensor<f32>\n})";
  const std::string select =
      "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "%c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "stablehlo.return %c : tensor<i1>\n}, " +
      body.substr(1);
  const std::string zero = "%z = stablehlo.constant dense<0.0> : tensor<f32>\n";
  const std::string window = "<{window_dimensions = array<i64: 1>, " + odd + "}> ";
  expect_error_in(zero + "%0 = \"stablehlo.reduce_window\"(%x, %z) " + window + body +
                      " : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>",
                  "needs two paddings for each axis, and has 3 numbers in all");
  expect_error_in(zero + "%0 = \"stablehlo.select_and_scatter\"(%x, %x, %z) " + window + select +
                      " : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>",
                  "needs two paddings for each axis, and has 3 numbers in all");
  expect_error_in(
      "%0 = stablehlo.reshape %x : (tensor<2xf32>) -> tensor<1x2x1xf32>\n"
      "%1 = stablehlo.reshape %0 : (tensor<1x2x1xf32>) -> tensor<2x1x1xf32>\n"
      "%2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = "
      "{pad = [[1, 1, 1]]} : (tensor<1x2x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>",
      "needs two paddings for each axis, and has 3 numbers in all");
  expect_error_in(
      "%0 = stablehlo.reshape %x : (tensor<2xf32>) -> tensor<1x2x1xf32>\n"
      "%1 = stablehlo.reshape %0 : (tensor<1x2x1xf32>) -> tensor<2x1x1xf32>\n"
      "%2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = "
      "{reverse = [0, 1]} : (tensor<1x2x1xf32>, tensor<2x1x1xf32>) -> tensor<1x1x1xf32>",
      "window_reversal has 2 entries for 3 axes");
}

TEST(StablehloErrors, UnknownWordsAndLetters) {
  const std::string matrix = "%m = stablehlo.constant dense<1.0> : tensor<2x2xf32>\n";
  const auto solved = [&](const std::string& word) {
    return matrix +
           "%0 = \"stablehlo.triangular_solve\"(%m, %m) <{left_side = true, lower = true, "
           "transpose_a = #stablehlo<transpose " +
           word +
           ">, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> "
           "tensor<2x2xf32>";
  };
  expect_error_in(solved("SIDEWAYS"), "there is no transpose_a SIDEWAYS");
  expect_error_in(solved("TRANSPOSE_INVALID"), "there is no transpose_a TRANSPOSE_INVALID");
  const auto factored = [&](const std::string& letter) {
    return matrix +
           "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%m) {mhlo.backend_config = "
           "{uplo = " +
           letter + "}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)";
  };
  expect_error_in(factored("88 : ui8"), "its option uplo is none of the letters LU");
  expect_error_in(factored("332 : i64"), "its option uplo is none of the letters LU");
  expect_error_in(factored("\"lower\""), "its option uplo is none of the letters LU");
  EXPECT_EQ(error_of("func.func @main() {\n" + factored("85 : ui8") + "\nreturn\n}"), "");
  const auto rounded = [](const std::string& format) {
    return "%0 = stablehlo.reduce_precision %x, format = " + format + " : tensor<2xf32>";
  };
  expect_error_in(rounded("e5m10junk"), "needs a format, such as e5m10");
  expect_error_in(rounded("e5junkm10"), "needs a format, such as e5m10");
  expect_error_in("%0 = stablehlo.constant dense<-0x3F800000> : tensor<f32>",
                  "test.mlir:2:33: a float in hexadecimal bits has no sign");
}

// The constants of a test are inputs, each of which takes memory.
TEST(StablehloErrors, ConstantsOfATestAreCountedTogether) {
  const std::string text =
      "func.func @main() {\n"
      "  %0 = stablehlo.constant dense<0> : tensor<1024xi8>\n"
      "  %1 = stablehlo.constant dense<0> : tensor<1073740801xi8>\n"
      "  return\n}\n";
  try {
    const auto module = anabranch::stablehlo::parse(text, "test.mlir");
    anabranch::stablehlo::self_checking(module.function("main"));
    ADD_FAILURE() << "no error";
  } catch (const anabranch::Error& error) {
    EXPECT_NE(std::string(error.what()).find("test.mlir:3:8: "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("at most 1073741824 together"), std::string::npos);
  }
}

// Calls double at each level: the text stays short.
TEST(StablehloErrors, CallsAreCounted) {
  std::string text = "func.func @f0(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "call @f" + std::to_string(i - 1);
    text += "func.func private @f" + std::to_string(i) +
            "(%x: tensor<f32>) -> tensor<f32> {\n%0 = " + before +
            "(%x) : (tensor<f32>) -> tensor<f32>\n%1 = " + before +
            "(%0) : (tensor<f32>) -> tensor<f32>\nreturn %1 : tensor<f32>\n}\n";
  }
  text +=
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n%0 = call @f59(%x) : (tensor<f32>) -> "
      "tensor<f32>\nreturn %0 : tensor<f32>\n}\n";
  try {
    anabranch::stablehlo::parse(text).function("main").graph();
    ADD_FAILURE() << "no error";
  } catch (const anabranch::Error& error) {
    EXPECT_NE(std::string(error.what()).find("four million operations"), std::string::npos)
        << error.what();
  }
}

}  // namespace
