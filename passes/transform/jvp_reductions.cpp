// Reductions and scans that are not linear: their tangents are those of an equal graph of
// elementwise ops, a tree.
#include <algorithm>
#include <string>

#include "anabranch/error.h"
#include "ir/attributes.h"
#include "ir/graph/copier.h"
#include "passes/transform/jvp.h"
#include "passes/transform/jvp_rules.h"

namespace anabranch {
namespace {

using S = const JvpStep&;
using Axes = std::vector<std::int64_t>;
using Quantities = std::vector<Quantity>;

// The tangents of the outputs of a graph that computes what the node does.
Tangents tangents_of_equal(S s, const Graph& equal) {
  std::vector<bool> active;
  for (const auto& tangent : s.tangents) active.push_back(tangent.has_value());
  const Jvp made = jvp(equal, active);
  std::vector<Value> operands(s.inputs.begin(), s.inputs.end());
  for (const auto& tangent : s.tangents) {
    if (tangent) operands.push_back(*tangent);
  }
  const std::vector<Value> outputs = inlined(made.graph, s.graph, operands);
  Tangents tangents;
  std::size_t next = made.active.size();
  for (bool is_active : made.active) {
    tangents.push_back(is_active ? std::optional(outputs[next++]) : std::nullopt);
  }
  return tangents;
}

// The elements that are reduced along a first axis, in row-major order; the others behind it.
Quantity reduced_first(Quantity x, const Axes& axes) {
  const Shape shape = x.shape();
  Axes order, sizes = {1};
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) continue;
    order.push_back(axis);
    sizes[0] *= shape[static_cast<int>(axis)];
  }
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    order.push_back(axis);
    sizes.push_back(shape[static_cast<int>(axis)]);
  }
  return x.transpose(order).reshape(Shape(sizes));
}

Quantity every_second(Quantity x, std::int64_t first, std::int64_t count) {
  Axes start(x.shape().rank()), limit(x.shape().begin(), x.shape().end()),
      stride(x.shape().rank(), 1);
  start[0] = first;
  stride[0] = 2;
  limit[0] = count == 0 ? first : first + (count - 1) * 2 + 1;
  return {x.graph, x.graph->add(Op::slice, {x.value}, SliceAttributes{start, limit, stride})};
}

Quantity joined(Quantity x, Quantity y, std::int64_t axis = 0) {
  return {x.graph, x.graph->add(Op::concatenate, {x.value, y.value}, AxisAttributes{axis})};
}

Quantity part(Quantity x, std::int64_t axis, std::int64_t start, std::int64_t limit) {
  Axes starts(x.shape().rank()), limits(x.shape().begin(), x.shape().end());
  starts[static_cast<std::size_t>(axis)] = start;
  limits[static_cast<std::size_t>(axis)] = limit;
  return x.slice(starts, limits);
}

// Neighbours are combined until one row is left, which loses the first axis. At least one row.
template <class Combine>
Quantities tree(Quantities rows, Combine combine) {
  while (rows[0].shape()[0] > 1) {
    const std::int64_t count = rows[0].shape()[0], pairs = count / 2;
    Quantities left, right;
    for (Quantity row : rows) {
      left.push_back(every_second(row, 0, pairs));
      right.push_back(every_second(row, 1, pairs));
    }
    Quantities combined = combine(left, right);
    for (std::size_t i = 0; count % 2 && i < rows.size(); ++i) {
      Axes start(rows[i].shape().rank()), limit(rows[i].shape().begin(), rows[i].shape().end());
      start[0] = count - 1;
      combined[i] = joined(combined[i], rows[i].slice(start, limit));
    }
    rows = std::move(combined);
  }
  for (Quantity& row : rows) {
    row = row.reshape(Shape(Axes(row.shape().begin() + 1, row.shape().end())));
  }
  return rows;
}

// `body`, a function of scalars, of arrays of one shape.
Quantities over(S s, const Graph& body, GraphBuilder& graph, const Quantities& inputs) {
  const Shape shape = inputs[0].shape();
  std::vector<Value> values;
  for (const Node& node : body.nodes()) {
    if (node.op == Op::parameter) {
      values.push_back(inputs[values.size()].value);
      continue;
    }
    std::vector<Value> operands;
    for (Value input : node.inputs) operands.push_back(values[input.node]);
    const Type type{node.types[0].dtype, shape};
    if (node.op == Op::constant) {
      const Quantity scalar = {&graph, graph.constant(node.as<ConstantAttributes>().value)};
      values.push_back(scalar.all_over(shape).value);
    } else if (is_elementwise(node.op) && node.types[0].rank() == 0) {
      std::optional<Type> stated;
      if (info(node.op).has(OpInfo::typed)) stated = type;
      values.push_back(graph.add(node.op, std::move(operands), node.attributes, stated));
    } else {
      std::string text = "reduce has no derivative where its body computes " +
                         std::string(name(node.op)) + "; write it with elementwise functions";
      if (s.node.location) text += ", at " + to_string(s.node.location);
      throw Error(text);
    }
  }
  Quantities outputs;
  for (Value output : body.outputs()) outputs.push_back({&graph, values[output.node]});
  return outputs;
}

}  // namespace

// Where several elements are the extremum, the tangent is the mean of theirs.
Tangents jvp_extremum(S s) {
  const Axes& axes = s.node.as<AxesAttributes>().axes;
  Axes kept;
  const Quantity x = s.in();
  const Dtype own = x.dtype();
  for (std::int64_t axis = 0; axis < x.shape().rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) kept.push_back(axis);
  }
  // An f16 would not hold the number of many.
  const Quantity t = s.tangent().as(accumulates_in(own));
  const Quantity is_extremum = x == s.out().broadcast(x.shape(), kept);
  const Quantity number = select(is_extremum, t.number(1), t.number(0)).sum(axes);
  const Quantity sum = select(is_extremum, t, t.number(0)).sum(axes);
  return {(sum / number.op(Op::maximum, number.number(1))).as(own).value};
}

// A tree of products, and not the product over each factor, which may be 0.
Tangents jvp_product(S s) {
  GraphBuilder builder("product");
  const Quantity x = {&builder, builder.parameter(s.in().type())};
  const Quantity rows = reduced_first(x, s.node.as<AxesAttributes>().axes);
  if (rows.shape()[0] == 0) return {std::nullopt};
  const Dtype own = x.dtype(), wide = accumulates_in(own);
  const Quantity product = tree({rows.as(wide)}, [](const Quantities& a, const Quantities& b) {
    return Quantities{a[0] * b[0]};
  })[0];
  return tangents_of_equal(s, builder.build({product.as(own).value}));
}

Tangents jvp_general_reduction(S s) {
  const Axes& axes = s.node.as<AxesAttributes>().axes;
  const Graph& body = s.node.regions[0];
  GraphBuilder builder("reduction");
  const std::size_t count = s.inputs.size() / 2;
  Quantities rows, init;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    const Quantity parameter = {&builder, builder.parameter(s.in(i).type())};
    (i < count ? rows : init).push_back(parameter);
  }
  for (Quantity& row : rows) row = reduced_first(row, axes);
  const Shape result = s.node.types[0].shape;
  for (Quantity& first : init) first = first.all_over(result);
  const auto combine = [&](const Quantities& a, const Quantities& b) {
    Quantities both = a;
    both.insert(both.end(), b.begin(), b.end());
    return over(s, body, builder, both);
  };
  Quantities all = init;
  if (rows[0].shape()[0] > 0) all = combine(init, tree(std::move(rows), combine));
  std::vector<Value> outputs;
  for (Quantity output : all) outputs.push_back(output.value);
  return tangents_of_equal(s, builder.build(std::move(outputs)));
}

// Steps of doubling length: after k of them each element is combined with 2^k - 1 before it
// (W. D. Hillis and G. L. Steele, "Data parallel algorithms", CACM 29(12), 1986).
Tangents jvp_cumulative(S s) {
  const auto& a = s.node.as<CumulativeAttributes>();
  if (a.of == Running::sum) {
    return {s.again({s.tangent().value}).value};
  }
  GraphBuilder builder("cumulative");
  const Quantity x = {&builder, builder.parameter(s.in().type())};
  const Op op = a.of == Running::product   ? Op::multiply
                : a.of == Running::maximum ? Op::maximum
                                           : Op::minimum;
  const std::int64_t size = x.shape()[static_cast<int>(a.axis)];
  Quantity so_far = x;
  for (std::int64_t step = 1; step < size; step *= 2) {
    // Those at the end have nothing before them: a neutral element would tie with an equal one.
    const Quantity both =
        part(so_far, a.axis, 0, size - step).op(op, part(so_far, a.axis, step, size));
    so_far = a.reverse ? joined(both, part(so_far, a.axis, size - step, size), a.axis)
                       : joined(part(so_far, a.axis, 0, step), both, a.axis);
  }
  return tangents_of_equal(s, builder.build({so_far.value}));
}

}  // namespace anabranch
