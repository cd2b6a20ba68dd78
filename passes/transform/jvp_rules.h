// The rules of jvp: what the tangents of a node's results are.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "passes/transform/quantity.h"

namespace anabranch {

/// Per value: its tangent, or nothing where that is zero.
using Tangents = std::vector<std::optional<Value>>;

/// A node whose operands, and so whose results, have been written into the graph that is being
/// built.
struct JvpStep {
  GraphBuilder& graph;
  const Node& node;  ///< of the graph that is differentiated; its inputs mean nothing here
  std::span<const Value> inputs;
  const Tangents& tangents;  ///< of the inputs; at least one is there
  Value result;              ///< result 0

  Quantity in(std::size_t i = 0) const { return {&graph, inputs[i]}; }
  Quantity out(std::uint32_t i = 0) const { return {&graph, {result.node, result.result + i}}; }
  bool is_active(std::size_t i = 0) const { return tangents[i].has_value(); }
  /// The tangent of an input, zeros where it has none.
  Quantity tangent(std::size_t i = 0) const {
    return tangents[i] ? Quantity{&graph, *tangents[i]}
                       : Quantity::zeros(graph, graph.type(inputs[i]));
  }
  /// The same op, of other operands.
  Quantity again(std::vector<Value> operands) const;
};

/// The factor that the tangent of one operand of an elementwise op has.
using Factor = Quantity (*)(const JvpStep& step);
/// The tangents of all results.
using TangentRule = Tangents (*)(const JvpStep& step);

struct JvpRule {
  enum class Kind : std::uint8_t {
    none,          ///< the results have no tangents: integers, or steps, whose derivative is zero
    factors,       ///< the sum of factor i times the tangent of operand i
    linear,        ///< linear in some operands together: the op itself, of their tangents
    multilinear,   ///< linear in each operand by itself
    formula,       ///< a function of this op
    with_regions,  ///< loops and branches: their regions are differentiated
    refused,       ///< there is no derivative: an Error
  };
  Kind kind = Kind::none;
  Factor factors[3] = {};
  std::uint64_t linear_operands = 0;  ///< bit i: operand i; all of them where all bits are set
  TangentRule formula = nullptr;
  const char* remedy = "";  ///< of what is refused
};

// Formulas, by the file that they are in.

// jvp_reductions.cpp
Tangents jvp_extremum(const JvpStep& step);
Tangents jvp_product(const JvpStep& step);
Tangents jvp_general_reduction(const JvpStep& step);
// jvp_order.cpp
Tangents jvp_sort(const JvpStep& step);
Tangents jvp_cumulative(const JvpStep& step);
Tangents jvp_scatter(const JvpStep& step);
// jvp_linear_algebra.cpp
Tangents jvp_cholesky(const JvpStep& step);
Tangents jvp_triangular_solve(const JvpStep& step);
Tangents jvp_lu(const JvpStep& step);
Tangents jvp_qr(const JvpStep& step);
Tangents jvp_householder_product(const JvpStep& step);
Tangents jvp_svd(const JvpStep& step);
Tangents jvp_eigh(const JvpStep& step);
Tangents jvp_eig(const JvpStep& step);
Tangents jvp_tridiagonal_solve(const JvpStep& step);

}  // namespace anabranch
