// Quantity: what the rules of the transforms are written in: an array of the graph that is being
// built, with the operators of numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "passes/arithmetic.h"

namespace anabranch {

/// Of what counts turns.
inline Type count_type() { return {i64, {}}; }

/// A value of the graph that `graph` builds. Both operands of an operator have one type.
struct Quantity {
  GraphBuilder* graph = nullptr;
  Value value;

  /// Good until the next op is added, and so is `shape`.
  const Type& type() const { return graph->type(value); }
  const Shape& shape() const { return type().shape; }
  Dtype dtype() const { return type().dtype; }

  Quantity op(Op op) const { return {graph, graph->add(op, {value})}; }
  Quantity op(Op op, Quantity y) const { return {graph, graph->add(op, {value, y.value})}; }
  Quantity compare(Comparison direction, Quantity y) const {
    return {graph, graph->add(Op::compare, {value, y.value}, CompareAttributes{direction})};
  }
  /// `x` in its dtype, everywhere.
  Quantity number(double x) const { return splat(*graph, type(), x); }
  Quantity as(Dtype to) const {
    if (dtype() == to) return *this;
    return {graph, graph->add(Op::convert, {value}, NoAttributes{}, Type{to, Shape(shape())})};
  }

  /// An array whose elements are all `x`.
  static Quantity splat(GraphBuilder& graph, Type type, double x) {
    const Value scalar = graph.constant(Literal::scalar(type.dtype, x));
    if (type.rank() == 0) return {&graph, scalar};
    return {&graph, graph.add(Op::broadcast_in_dim, {scalar}, AxesAttributes{}, std::move(type))};
  }
  static Quantity zeros(GraphBuilder& graph, Type type) { return splat(graph, std::move(type), 0); }

  // --- shapes ---
  Quantity reshape(Shape to) const {
    if (shape() == to) return *this;
    return {graph, graph->add(Op::reshape, {value}, NoAttributes{}, Type{dtype(), std::move(to)})};
  }
  /// Axis i becomes axis axes[i] of `to`.
  Quantity broadcast(Shape to, std::vector<std::int64_t> axes) const {
    return {graph, graph->add(Op::broadcast_in_dim, {value}, AxesAttributes{std::move(axes)},
                              Type{dtype(), std::move(to)})};
  }
  /// A scalar, or an array of the shape itself, all over the shape.
  Quantity all_over(Shape to) const { return shape() == to ? *this : broadcast(std::move(to), {}); }
  /// Axis i of the result is axis axes[i].
  Quantity transpose(std::vector<std::int64_t> axes) const;
  /// Axis `from` becomes axis `to`; the others keep their order.
  Quantity move_axis(std::int64_t from, std::int64_t to) const;
  Quantity slice(std::vector<std::int64_t> start, std::vector<std::int64_t> limit) const;
  /// Zeros around and between its elements.
  Quantity pad(std::vector<std::int64_t> low, std::vector<std::int64_t> high,
               std::vector<std::int64_t> interior) const;
  Quantity sum(std::vector<std::int64_t> axes) const;
  /// Element `index` of the first axis, which goes; and the same array with that one replaced.
  Quantity row(Quantity index) const;
  Quantity with_row(Quantity index, Quantity row) const;
  /// The conjugate; itself where it is real.
  Quantity conjugate() const;
};

/// The position along an axis.
Quantity iota(GraphBuilder& graph, const Type& type, std::int64_t axis);
/// The complex number of two real ones.
inline Quantity complex(Quantity re, Quantity im) { return re.op(Op::complex, im); }

/// With one axis more, the first.
Type with_first_axis(const Type& type, std::int64_t size);
/// 0, 1, ... count - 1.
std::vector<std::int64_t> axes_up_to(std::int64_t count);

}  // namespace anabranch
