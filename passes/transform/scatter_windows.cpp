#include "passes/transform/scatter_windows.h"

#include <algorithm>

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

bool is_among(const Axes& list, std::int64_t axis) {
  return std::find(list.begin(), list.end(), axis) != list.end();
}
std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }
std::int64_t size_of(const Type& type, std::int64_t axis) {
  return type.shape[static_cast<int>(axis)];
}

// Number k all over component k of index vectors.
Quantity per_component(Quantity indices, std::int64_t index_vector_axis, const Axes& numbers) {
  Quantity all = indices.number(numbers.empty() ? 0 : static_cast<double>(numbers[0]));
  if (index_vector_axis == indices.type().rank()) return all;
  const Quantity component = iota(*indices.graph, indices.type(), index_vector_axis);
  for (std::size_t k = 1; k < numbers.size(); ++k) {
    const Quantity own = indices.number(static_cast<double>(numbers[k]));
    all = select(component == component.number(static_cast<double>(k)), own, all);
  }
  return all;
}

}  // namespace

Quantity held(Quantity indices, std::int64_t index_vector_axis, const Axes& low, const Axes& high) {
  return indices.op(Op::maximum, per_component(indices, index_vector_axis, low))
      .op(Op::minimum, per_component(indices, index_vector_axis, high));
}

Quantity windows_met(GraphBuilder& graph, const ScatterAttributes& a, Quantity from,
                     Quantity indices, const Type& updates) {
  const Type type = from.type();
  Axes sizes, low, high;
  std::size_t window = 0;
  for (std::int64_t axis = 0; axis < type.rank(); ++axis) {
    const bool is_dropped = is_among(a.inserted_axes, axis) || is_among(a.operand_batch_axes, axis);
    const std::int64_t size = is_dropped ? 1 : size_of(updates, a.window_axes[window++]);
    const bool is_placed = is_among(a.start_axes, axis);
    sizes.push_back(is_among(a.operand_batch_axes, axis)
                        ? std::min<std::int64_t>(size_of(type, axis), 1)
                        : size);
    low.push_back(is_placed ? size : 0);
    high.push_back(is_placed ? size : 0);
  }
  // As many zeros around as a window has elements: one that is outside reads them.
  const Quantity padded = from.pad(low, high, Axes(low.size()));
  Axes window_sizes, before, behind;
  for (std::int64_t axis : a.start_axes) {
    window_sizes.push_back(sizes[at(axis)]);
    before.push_back(-sizes[at(axis)]);
    behind.push_back(size_of(type, axis));
  }
  const Quantity bounded = held(indices, a.index_vector_axis, before, behind) +
                           per_component(indices, a.index_vector_axis, window_sizes);
  const GatherAttributes gather{a.window_axes,
                                a.inserted_axes,
                                a.operand_batch_axes,
                                a.index_batch_axes,
                                a.start_axes,
                                a.index_vector_axis,
                                sizes};
  return {&graph, graph.add(Op::gather, {padded.value, bounded.value}, gather)};
}

Quantity scattered(GraphBuilder& graph, ScatterAttributes a, ScatterCombiner combiner, Quantity to,
                   Quantity indices, Quantity updates) {
  a.combiner = combiner;
  return {&graph, graph.add(Op::scatter, {to.value, indices.value, updates.value}, a)};
}

}  // namespace anabranch
