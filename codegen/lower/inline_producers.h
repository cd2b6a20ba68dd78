// InlineProducers: the scalar that a graph's value has at a place, found by asking its operands at
// the places their index maps give.
//
//   transpose at (i, j)    asks its operand at (j, i)
//   pad at i               asks its operand at i - low, masked, and selects
//   dynamic_slice at i     asks its operand at start + i, the start being a scalar that is clamped
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/kernel/builder.h"
#include "ir/operand_index.h"

namespace anabranch {

class InlineProducers {
 public:
  /// Parameter i of `graph` is read from buffer `first_buffer + i`, row-major.
  InlineProducers(const Graph& graph, KernelBuilder& builder, std::uint32_t first_buffer = 0);

  Point point(std::vector<Index> indices) { return points_(std::move(indices)); }
  std::span<const Index> operator[](Point point) const { return points_[point]; }

  /// The value at `place`. Where `mask` is false nothing is read, and the scalar means nothing.
  /// Few elements that are reduced are combined one by one. Throws InternalError at any other
  /// reduction, or a dot, that is not bound there.
  Ref value_at(Value value, Point place, Ref mask = {});

  /// `value` is known to be `ref` at `at`.
  void bind(Value value, Point at, Ref ref);
  /// The integer scalar `value` is known to be `index`: what it places is an expression of that.
  void bind(Value value, Index index);

  /// What `node` reads to know where to read (ir/operand_index.h) for the element at `result`,
  /// where all have their scalars; nothing but a request for them otherwise.
  std::vector<Index> starts(const Node& node, Point result, Ref mask = {});

  /// Asked before a costly op is computed: a scalar to use in its place, or none.
  using Intercept = std::function<Ref(Value, Point)>;
  void set_intercept(Intercept intercept) { intercept_ = std::move(intercept); }

 private:
  struct Request {
    Value value;
    Point at;
    Ref mask;

    bool operator==(const Request&) const = default;
  };
  struct HashRequest {
    std::size_t operator()(const Request& request) const;
  };

  Ref known(const Request& request) const;
  Ref want(Value value, Point at, Ref mask);
  Ref visit(const Request& request);
  Ref visit_elementwise(const Node& node, const Request& request);
  Ref visit_index(const Node& node, const Request& request);
  Ref visit_pad(const Node& node, const Request& request);
  /// An operand's element; it is the result's where the index along the axis is below `end`.
  struct Part {
    std::int64_t end = 0;
    Ref element;
  };

  Ref visit_concatenate(const Node& node, const Request& request);
  Ref chosen(std::span<const Part> parts, Index along);
  Ref visit_dynamic_update_slice(const Node& node, const Request& request);
  Ref visit_reduction(const Node& node, const Request& request);
  Ref visit_leaf(const Node& node, const Request& request);
  OperandIndex operand(const Node& node, std::size_t operand, Point at,
                       std::span<const Index> starts = {});
  std::optional<Index> index_of(Value value, std::int64_t room);
  Ref both(Ref a, Ref b);

  const Graph& graph_;
  KernelBuilder& builder_;
  std::uint32_t first_buffer_;
  Intercept intercept_;
  PointTable points_;
  std::unordered_map<Request, Ref, HashRequest> memo_;
  std::map<Value, Index> indices_;  // of scalars
  std::vector<Request> missing_;    // operands of the node being visited that are not known yet
};

}  // namespace anabranch
