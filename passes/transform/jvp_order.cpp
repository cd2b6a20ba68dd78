// Ops that put elements in other places: sort and scatter.
#include <algorithm>

#include "ir/attributes.h"
#include "passes/transform/jvp_rules.h"
#include "passes/transform/scatter_windows.h"

namespace anabranch {
namespace {

using S = const JvpStep&;
using Axes = std::vector<std::int64_t>;

// x[..., positions[..., i], ...] along an axis.
Quantity taken_along(Quantity x, Quantity positions, std::int64_t axis) {
  GatherAttributes a;
  a.collapsed_axes = a.start_axes = {axis};
  a.index_vector_axis = x.shape().rank();
  for (std::int64_t other = 0; other < x.shape().rank(); ++other) {
    a.sizes.push_back(1);
    if (other != axis) a.operand_batch_axes.push_back(other);
  }
  a.index_batch_axes = a.operand_batch_axes;
  return {x.graph, x.graph->add(Op::gather, {x.value, positions.value}, a)};
}

// At each place, the greatest or least of what met there; where several did, the mean of theirs.
Quantity extremum(S s, const ScatterAttributes& a) {
  const Quantity x = s.in(0), indices = s.in(1), updates = s.in(2), out = s.out();
  const Quantity met = windows_met(s.graph, a, out, indices, updates.type());
  const Quantity is_own = x == out, is_update = updates == met;
  // An f16 would not hold the number of many.
  const Dtype dtype = x.dtype(), wide = accumulates_in(dtype);
  const Quantity t = s.tangent(0).as(wide), t_of_updates = s.tangent(2).as(wide);
  const auto added = [&](Quantity own, Quantity of_updates) {
    return scattered(s.graph, a, ScatterCombiner::add, select(is_own, own, own.number(0)), indices,
                     select(is_update, of_updates, of_updates.number(0)));
  };
  const Quantity number = added(t.number(1), t_of_updates.number(1));
  const Quantity sum = added(t, t_of_updates);
  return (sum / number.op(Op::maximum, number.number(1))).as(dtype);
}

// The factors besides each one: the product of those that are not 0, and how many are.
Quantity product(S s, const ScatterAttributes& a) {
  const Quantity x = s.in(0), indices = s.in(1), updates = s.in(2);
  const auto or_one = [](Quantity q) { return select(q == q.number(0), q.number(1), q); };
  const auto is_zero = [](Quantity q) {
    return select(q == q.number(0), q.number(1), q.number(0));
  };
  const Quantity all =
      scattered(s.graph, a, ScatterCombiner::multiply, or_one(x), indices, or_one(updates));
  const Quantity zeros =
      scattered(s.graph, a, ScatterCombiner::add, is_zero(x), indices, is_zero(updates));
  const auto others = [&](Quantity factor, Quantity product, Quantity count) {
    const Quantity none = factor.number(0);
    const Quantity besides_zero = select(count == count.number(1), product, none);
    const Quantity besides = select(count == count.number(0), product / or_one(factor), none);
    return select(factor == factor.number(0), besides_zero, besides);
  };
  const auto met = [&](Quantity from) {
    return windows_met(s.graph, a, from, indices, updates.type());
  };
  return scattered(s.graph, a, ScatterCombiner::add, s.tangent(0) * others(x, all, zeros), indices,
                   s.tangent(2) * others(updates, met(all), met(zeros)));
}

}  // namespace

Tangents jvp_sort(S s) {
  const auto& [axis, descending] = s.node.as<SortAttributes>();
  if (s.in().shape().size() == 0) return {s.tangent().value};
  const Quantity positions = {&s.graph,
                              s.graph.add(Op::argsort, {s.inputs[0]},
                                          ArgsortAttributes{axis, descending, PositionDtype::i64})};
  return {taken_along(s.tangent(), positions, axis).value};
}

// Where updates replace, the last in row-major order counts.
Tangents jvp_scatter(S s) {
  const auto& a = s.node.as<ScatterAttributes>();
  switch (a.combiner) {
    case ScatterCombiner::replace:
    case ScatterCombiner::add:
      return {s.again({s.tangent(0).value, s.inputs[1], s.tangent(2).value}).value};
    case ScatterCombiner::minimum:
    case ScatterCombiner::maximum:
      return {extremum(s, a).value};
    case ScatterCombiner::multiply:
      return {product(s, a).value};
    case ScatterCombiner::and_:
    case ScatterCombiner::or_:
    case ScatterCombiner::xor_:
      break;
  }
  return {std::nullopt};
}

}  // namespace anabranch
