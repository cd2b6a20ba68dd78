// Loops around the forms that groups take on a GPU: rows, columns, tiles, scratch, several passes.
#pragma once

#include "ir/graph/graph.h"
#include "ir/literal.h"
#include "tests/support/flows.h"
#include "tests/support/random_literal.h"

namespace anabranch::testing {

// S stands for a square array of floats, V for one row of it.
inline constexpr Flow flow_forms[] = {
    {"Softmax", R"(
graph main(%0: S, %1: i32[]) {
  %2: i32[] = constant 0
  %3: i32[], %4: S = while %2, %0, %1 graph c(%0: i32[], %1: S, %2: i32[]) {
    %3: bool[] = compare %0, %2 direction=le
    return %3
  } graph b(%0: i32[], %1: S, %2: i32[]) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: V = reduce_max %1 axes=[1]
    %6: S = broadcast_in_dim %5 axes=[0]
    %7: S = subtract %1, %6
    %8: S = exponential %7
    %9: V = reduce_sum %8 axes=[1]
    %10: S = broadcast_in_dim %9 axes=[0]
    %11: S = divide %8, %10
    return %4, %11
  }
  return %3, %4
})"},
    {"ATransposeAndASwap", R"(
graph main(%0: S, %1: S, %2: i32[]) {
  %3: i32[] = constant 0
  %4: i32[], %5: S, %6: S = while %3, %0, %1, %2 graph c(%0: i32[], %1: S, %2: S, %3: i32[]) {
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S, %2: S, %3: i32[]) {
    %4: i32[] = constant 1
    %5: i32[] = add %0, %4
    %6: S = transpose %1 axes=[1,0]
    %7: S = add %6, %2
    return %5, %7, %1
  }
  return %5, %6
})"},
    {"SumsDownColumnsAndOfAll", R"(
graph main(%0: S, %1: i32[]) {
  %2: i32[] = constant 0
  %3: f32[] = constant 0.0
  %4: i32[], %5: S, %6: f32[] = while %2, %0, %3, %1 graph c(%0: i32[], %1: S, %2: f32[], %3: i32[]) {
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S, %2: f32[], %3: i32[]) {
    %4: i32[] = constant 1
    %5: i32[] = add %0, %4
    %6: V = reduce_max %1 axes=[0]
    %7: S = broadcast_in_dim %6 axes=[1]
    %8: S = subtract %1, %7
    %9: f32[] = reduce_min %8 axes=[0,1]
    %10: f32[] = add %9, %2
    return %5, %8, %10
  }
  return %5, %6
})"},
    {"NewtonOnNumbers", R"(
graph main(%0: f32[], %1: S) {
  %2: i32[] = constant 0
  %3: i32[], %4: f32[], %5: f32[] = while %2, %0, %0 graph c(%0: i32[], %1: f32[], %2: f32[]) {
    %3: i32[] = constant 6
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: f32[], %2: f32[]) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: f32[] = constant 0.5
    %6: f32[] = multiply %2, %5
    %7: f32[] = add %6, %5
    return %4, %2, %7
  }
  return %3, %4, %5
})"},
};

/// `flow` on arrays of `size` by `size`.
inline std::string with_size(const Flow& flow, int size) {
  const std::string n = std::to_string(size);
  std::string text = flow.text;
  for (std::size_t at = 0; (at = text.find('V', at)) != std::string::npos;) {
    text.replace(at, 1, "f32[" + n + "]");
  }
  return with_type(std::move(text), "f32[" + n + "," + n + "]");
}

/// Parameters that are one i32 are `number`: how often a loop runs, which branch is taken.
inline std::vector<Literal> inputs_for(const Graph& graph, std::int32_t number) {
  Random random(7);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    const Type& type = graph.parameter_type(i);
    inputs.push_back(type == Type{i32, {}} ? Literal::scalar(number)
                                           : random_literal(random, type, Flavour::ordinary));
  }
  return inputs;
}

}  // namespace anabranch::testing
