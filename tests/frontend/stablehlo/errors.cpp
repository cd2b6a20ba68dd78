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
  expect_error_in("check.expect_serialized_eq %x, probe_id = \"a\" : tensor<2xf32>",
                  "check.expect_serialized_eq is not read");
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
  std::string axes = "tensor<";
  for (int i = 0; i < 100'000; ++i) axes += "1x";
  expect_error("func.func @main(%x: " + axes + "f32>) { return }", "axes; at most 64");
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
