// What the rules of `batch` share, and their table: one rule per op.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/transform/quantity.h"

namespace anabranch {

using AxisList = std::vector<std::int64_t>;

/// What a value of the single graph is in the batched one; `batched` means that its first axis
/// counts the elements of the batch.
struct BatchedValue {
  Value value;
  bool batched = false;
};

/// `value` with the batch's axis: broadcast where it has none.
Quantity with_batch_axis(GraphBuilder& to, BatchedValue value, std::int64_t size);

/// One node of the single graph with its operands in the batched one, of which at least one is
/// batched.
struct BatchCall {
  const Node& node;
  std::int64_t size;  ///< of the batch
  GraphBuilder& to;
  std::vector<BatchedValue> operands;

  template <class A>
  const A& as() const {
    return node.as<A>();
  }
  bool is_batched(std::size_t operand) const { return operands[operand].batched; }
  bool any_batched(std::size_t first, std::size_t count) const;

  /// An operand as it is.
  Quantity given(std::size_t operand) const { return {&to, operands[operand].value}; }
  /// An operand with the batch's axis: broadcast where it has none.
  Quantity whole(std::size_t operand) const { return whole(operands[operand]); }
  Quantity whole(BatchedValue value) const { return with_batch_axis(to, value, size); }
  std::vector<Value> all_whole() const;

  Type with_batch(const Type& type) const { return with_first_axis(type, size); }
  /// Result 0 of an op that is in the node's place, with its location.
  Quantity add(Op op, std::vector<Value> inputs, Attributes attributes = NoAttributes{},
               std::optional<Type> stated = std::nullopt, std::vector<Graph> regions = {}) const;
};

/// One per result of the node.
struct BatchedResults {
  std::vector<BatchedValue> values;

  BatchedResults(Quantity one) : values{{one.value, true}} {}
  BatchedResults(std::vector<BatchedValue> several) : values(std::move(several)) {}
};

/// As many results as the single node has: `first` and those after it.
BatchedResults all_results(const BatchCall& call, Quantity first);

/// batch_rules::transpose(call) gives the results of a `transpose`, and so for every op that is
/// neither a leaf, elementwise nor a fusion (a missing one fails the link). All results are
/// batched, but for those of loops and branches that depend on nothing batched.
namespace batch_rules {

#define LEAF_OP(name)
#define ELEMENTWISE_OP(name)
#define COMPOSED_OP(name)
#define REGION_OP(name)
#define OTHER_OP(name) BatchedResults name(const BatchCall& call);
#include "ir/ops_by_kind.def"

}  // namespace batch_rules

/// Writes `graph`, batched, into `to`: its parameters are `operands`. Its outputs.
std::vector<BatchedValue> batch_into(GraphBuilder& to, const Graph& graph, std::int64_t size,
                                     const std::vector<BatchedValue>& operands);

/// Each axis behind a new first one.
AxisList behind_batch(AxisList axes);
/// `first`, then the others.
AxisList with_first(std::int64_t first, const AxisList& others);

/// `x` with axes `axis` and `axis` + 1 as one.
Quantity merge_axes(Quantity x, std::int64_t axis);
/// `x` with `axis` as axes of these sizes.
Quantity split_axis(Quantity x, std::int64_t axis, const AxisList& sizes);
/// `x`, whose first axis is the batch's, repeated over `to`, along axes behind its own.
Quantity over_elements(Quantity x, const Shape& to);

}  // namespace anabranch
