// The rules of transposition: what the cotangents of a linear node's operands are.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "passes/transform/quantity.h"

namespace anabranch {

/// The sums of cotangents, per value of the graph that is transposed.
class Cotangents;

/// A node that is linear in some of its operands, all of them together; the others are known and
/// have been written into the graph that is being built.
struct TransposeStep {
  GraphBuilder& graph;
  const Node& node;                              ///< of the linear graph
  std::vector<std::optional<Value>> known;       ///< per operand; nothing for a linear one
  std::vector<std::optional<Value>> cotangents;  ///< per result; at least one is there
  Cotangents& sums;

  bool is_linear(std::size_t i) const { return !known[i]; }
  Quantity in(std::size_t i) const { return {&graph, *known[i]}; }
  /// The cotangent of result 0.
  Quantity cotangent() const { return {&graph, *cotangents[0]}; }
  /// That of any result, zeros where it has none.
  Quantity cotangent(std::size_t i) const {
    return cotangents[i] ? Quantity{&graph, *cotangents[i]} : Quantity::zeros(graph, node.types[i]);
  }
  const Type& type_of_operand(std::size_t i) const;

  /// `cotangent` is a part of the sum for operand i; nothing happens where that is known.
  void add(std::size_t i, Quantity cotangent) const;
  /// The sum for operand i so far, zeros where there is none: to be updated in place.
  Quantity sum(std::size_t i) const;
  void set_sum(std::size_t i, Quantity sum) const;
};

using TransposeRule = void (*)(const TransposeStep& step);

// Rules, by the file that they are in.

// transpose_index.cpp
void transpose_reshape(const TransposeStep& step);
void transpose_axes(const TransposeStep& step);
void transpose_reverse(const TransposeStep& step);
void transpose_concatenate(const TransposeStep& step);
void transpose_sum(const TransposeStep& step);
void transpose_cumulative(const TransposeStep& step);
void transpose_sliding_windows(const TransposeStep& step);
void transpose_pad(const TransposeStep& step);
void transpose_slice(const TransposeStep& step);
void transpose_broadcast(const TransposeStep& step);
void transpose_gather(const TransposeStep& step);
void transpose_scatter(const TransposeStep& step);
void transpose_dynamic_slice(const TransposeStep& step);
void transpose_dynamic_update_slice(const TransposeStep& step);
// transpose_contraction.cpp
void transpose_dot(const TransposeStep& step);
void transpose_convolution(const TransposeStep& step);
// transpose_linear_algebra.cpp
void transpose_triangular_solve(const TransposeStep& step);
void transpose_tridiagonal_solve(const TransposeStep& step);
void transpose_fft(const TransposeStep& step);
// transpose_control.cpp
void transpose_loop(const TransposeStep& step);
void transpose_branch(const TransposeStep& step);
void transpose_composite(const TransposeStep& step);

}  // namespace anabranch
