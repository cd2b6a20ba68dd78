// Valid identities: for a value, another that equals it bit for bit (any NaN equals a NaN).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/graph.h"
#include "tests/support/random_literal.h"

namespace anabranch {

/// Writes nodes behind those of a graph that grows, the usual ones in few words.
class IdentityWriter {
 public:
  IdentityWriter(GraphBuilder& graph, Random& random) : random(random), graph_(graph) {}

  Random& random;

  // Copies: what is added moves the nodes.
  Type type(Value value) const { return graph_.type(value); }
  Shape shape(Value value) const { return graph_.type(value).shape; }
  std::int64_t size(Value value, std::int64_t axis) const {
    return graph_.type(value).shape[static_cast<int>(axis)];
  }
  Dtype dtype(Value value) const { return graph_.type(value).dtype; }
  Node node(Value value) const { return graph_.node(value); }

  Value add(Op op, std::vector<Value> inputs, Attributes attributes = NoAttributes{},
            std::optional<Type> stated = std::nullopt, std::vector<Graph> regions = {}) {
    return graph_.add(op, std::move(inputs), std::move(attributes), std::move(stated),
                      std::move(regions));
  }
  /// `node`, of other operands of types that fit.
  Value again(const Node& node, std::vector<Value> inputs);
  Value scalar(Dtype dtype, double number) {
    return graph_.constant(Literal::scalar(dtype, number));
  }
  /// `number` all over.
  Value splat(const Type& type, double number);
  Value reshape(Value x, const Shape& shape);
  Value convert(Value x, Dtype dtype);
  /// Elements `begin` to `end` - 1 of an axis.
  Value part(Value x, std::int64_t axis, std::int64_t begin, std::int64_t end);
  Value concatenate(std::vector<Value> parts, std::int64_t axis);
  /// The position along `axis`, in the shape of `x`.
  Value positions(Value x, Dtype dtype, std::int64_t axis);
  /// A bool at each place of `x`; no pass knows them.
  Value mask(Value x);
  /// Some value of the type and at the place of `x`.
  Value other(Value x);

  /// Any axis of `x`; nothing where it has none.
  std::optional<std::int64_t> axis_of(Value x);
  /// A place to cut `size` elements in two, either of which may be none, and is often one.
  std::int64_t cut(std::int64_t size);

 private:
  GraphBuilder& graph_;
};

struct Identity {
  std::string_view equation;
  /// A value equal to `x`, which is a result of `node` (its operands are of the graph that is
  /// written to); nothing where the left side is not like that.
  std::function<std::optional<Value>(IdentityWriter& to, const Node& node, Value x)> write;
  /// Whether `node` may be any.
  bool of_any_value = true;
};

/// An identity of the results of certain ops, which `write` looks for.
struct Rewrite {
  std::string_view equation;
  std::optional<Value> (*write)(IdentityWriter& to, const Node& node, Value x);
};
std::vector<Identity> of_certain_ops(std::span<const Rewrite> rows);

/// Arithmetic: equations whose both sides are data.
std::span<const Identity> arithmetic_identities();
/// Of any value: it is moved, cut, sorted, converted, and back.
std::span<const Identity> value_identities();
/// Of the results of ops of one kind: in parts, in another order, under other names of the axes.
std::span<const Identity> op_identities();
/// Of products: operands in the other order, in parts, with other names of the axes.
std::span<const Identity> product_identities();
/// Of any value, or any op: in a branch, or in a loop of few turns.
std::span<const Identity> flow_identities();

/// A way to move elements, and the way back.
struct Move {
  std::function<Value(IdentityWriter&to, Value x)> there, back;
};
/// The axes of an array in any order.
std::vector<std::int64_t> random_order(Random& random, int rank);
/// Reversed along axes, transposed, or under another shape.
Move random_move(Random& random, const Shape& shape);

}  // namespace anabranch
