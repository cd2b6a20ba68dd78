#include "ir/operand_index.h"

#include <algorithm>
#include <utility>

#include "anabranch/error.h"
#include "ir/integer_constant.h"
#include "ir/padded_axis.h"

namespace anabranch {
namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

bool contains(const std::vector<std::int64_t>& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// Of the vector that places the window which the element at `result` is of: its place on each axis
// of the indices, anything along itself.
std::vector<Index> vector_place(const GatherAttributes& a, std::span<const Index> result) {
  std::vector<Index> place;
  for (std::size_t axis = 0; axis < result.size(); ++axis) {
    if (contains(a.offset_axes, static_cast<std::int64_t>(axis))) continue;
    if (static_cast<std::int64_t>(place.size()) == a.index_vector_axis) place.emplace_back();
    place.push_back(result[axis]);
  }
  if (static_cast<std::int64_t>(place.size()) == a.index_vector_axis) place.emplace_back();
  return place;
}

/// One function for each index op, named as the op is.
class Maps {
 public:
  Maps(const Graph& graph, const Node& node, std::size_t operand, std::span<const Index> result,
       std::span<const Index> starts, IndexTable& table)
      : node_(node),
        inputs_(graph, node),
        operand_(operand),
        from_(graph.type(node.inputs[operand]).shape),
        to_(node.types[0].shape),
        result_(result),
        starts_(starts),
        table_(table) {}

  OperandIndex run() {
    switch (node_.op) {
#define INDEX_OP(name) \
  case Op::name:       \
    return name();
#include "ir/ops_by_kind.def"
      default:
        throw InternalError("operand_index", std::string(name(node_.op)) + " moves no elements");
    }
  }

 private:
  struct Inputs {
    Inputs(const Graph& graph_of, const Node& node_of) : graph(graph_of), node(node_of) {}
    std::int64_t size(std::size_t input, int axis) const {
      return graph.type(node.inputs[input]).shape[axis];
    }
    const Graph& graph;
    const Node& node;
  };

  std::vector<Index> same() const { return {result_.begin(), result_.end()}; }

  // Axes whose sizes agree keep their indices: only groups of axes that change are flattened.
  OperandIndex reshape() {
    OperandIndex made;
    if (to_.size() == 0) {  // nothing is ever read
      made.at.assign(from_.sizes().size(), table_.constant(0));
      return made;
    }
    std::span<const std::int64_t> in = from_.sizes(), out = to_.sizes();
    std::size_t i = 0, j = 0;
    while (i < in.size() || j < out.size()) {
      const std::size_t first_in = i, first_out = j;
      std::int64_t in_size = i < in.size() ? in[i++] : 1;
      std::int64_t out_size = j < out.size() ? out[j++] : 1;
      while (in_size != out_size) {
        if (in_size < out_size)
          in_size *= in[i++];
        else
          out_size *= out[j++];
      }
      const Index flat = table_.flatten(result_.subspan(first_out, j - first_out),
                                        out.subspan(first_out, j - first_out));
      for (Index index : table_.unflatten(flat, in.subspan(first_in, i - first_in))) {
        made.at.push_back(index);
      }
    }
    return made;
  }

  OperandIndex broadcast_in_dim() {
    OperandIndex made;
    for (int axis = 0; axis < from_.rank(); ++axis) {
      const std::size_t into = at(node_.as<AxesAttributes>().axes[at(axis)]);
      made.at.push_back(from_[axis] == 1 ? table_.constant(0) : result_[into]);
    }
    return made;
  }

  OperandIndex transpose() {
    OperandIndex made{same(), {}};
    const auto& axes = node_.as<AxesAttributes>().axes;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) made.at[at(axes[axis])] = result_[axis];
    return made;
  }

  // Along at most one element the stride is anything; else it is less than the axis is long.
  OperandIndex slice() {
    OperandIndex made;
    const auto& slice = node_.as<SliceAttributes>();
    for (std::size_t axis = 0; axis < result_.size(); ++axis) {
      const bool is_one = to_[static_cast<int>(axis)] <= 1;
      const Index steps =
          is_one ? table_.constant(0) : table_.scale(result_[axis], slice.stride[axis]);
      made.at.push_back(table_.add(steps, slice.start[axis]));
    }
    return made;
  }

  OperandIndex reverse() {
    OperandIndex made{same(), {}};
    for (std::int64_t axis : node_.as<AxesAttributes>().axes) {
      const std::int64_t last = from_[static_cast<int>(axis)] - 1;
      made.at[at(axis)] = table_.add(table_.scale(result_[at(axis)], -1), last);
    }
    return made;
  }

  OperandIndex pad() {
    if (operand_ == 1) return {};
    OperandIndex made;
    for (std::size_t axis = 0; axis < result_.size(); ++axis) {
      const PaddedAxis kept = padded_axis(node_.as<PadAttributes>(), from_, to_, axis);
      const Index from_first = table_.add(result_[axis], -kept.low);
      made.within.push_back({from_first, 0, kept.count * kept.step, kept.step});
      made.at.push_back(table_.add(table_.divide(from_first, kept.step), kept.first));
    }
    return made;
  }

  OperandIndex sliding_windows() {
    OperandIndex made;
    const auto& windows = node_.as<WindowsAttributes>();
    const std::size_t rank = from_.sizes().size();
    // Along one element a step is anything, and so it is where nothing is ever read.
    const auto steps = [&](std::size_t axis, std::int64_t step) {
      const bool is_one = to_.size() == 0 || to_[static_cast<int>(axis)] == 1;
      return is_one ? table_.constant(0) : table_.scale(result_[axis], step);
    };
    for (std::size_t axis = 0; axis < rank; ++axis) {
      made.at.push_back(table_.add(steps(axis, windows.strides[axis]),
                                   steps(rank + axis, windows.dilations[axis])));
    }
    return made;
  }

  OperandIndex concatenate() {
    OperandIndex made{same(), {}};
    const auto axis = node_.as<AxisAttributes>().axis;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < operand_; ++i) begin += inputs_.size(i, static_cast<int>(axis));
    const Index along = result_[at(axis)];
    const std::int64_t end = begin + from_[static_cast<int>(axis)];
    made.within.push_back({along, begin, end});
    made.at[at(axis)] = table_.add(along, -begin);
    return made;
  }

  OperandIndex dynamic_slice() {
    OperandIndex made;
    if (operand_ >= 1) return made;
    for (std::size_t axis = 0; axis < starts_.size(); ++axis) {
      made.at.push_back(table_.add(starts_[axis], result_[axis]));
    }
    return made;
  }

  OperandIndex dynamic_update_slice() {
    if (operand_ == 0) return {same(), {}};
    OperandIndex made;
    if (operand_ >= 2) return made;
    for (std::size_t axis = 0; axis < starts_.size(); ++axis) {
      made.at.push_back(table_.add(result_[axis], table_.scale(starts_[axis], -1)));
      made.within.push_back({made.at[axis], 0, from_[static_cast<int>(axis)]});
    }
    return made;
  }

  // The starts are in the order of start_axes.
  OperandIndex gather() {
    OperandIndex made;
    if (operand_ == 1) return made;
    const auto& a = node_.as<GatherAttributes>();
    made.at.assign(from_.sizes().size(), table_.constant(0));
    for (std::size_t k = 0; k < a.start_axes.size(); ++k) made.at[at(a.start_axes[k])] = starts_[k];
    const std::vector<Index> vector = vector_place(a, result_);
    for (std::size_t i = 0; i < a.operand_batch_axes.size(); ++i) {
      made.at[at(a.operand_batch_axes[i])] = vector[at(a.index_batch_axes[i])];
    }
    std::size_t next = 0;
    for (std::int64_t axis = 0; axis < from_.rank(); ++axis) {
      if (contains(a.collapsed_axes, axis) || contains(a.operand_batch_axes, axis)) continue;
      Index& index = made.at[at(axis)];
      index = table_.add(index, result_[at(a.offset_axes[next++])]);
    }
    return made;
  }

  const Node& node_;
  const Inputs inputs_;
  const std::size_t operand_;
  const Shape& from_;
  const Shape& to_;
  std::span<const Index> result_, starts_;
  IndexTable& table_;
};

// One for each axis, as scalars from operand `first` on: a block can be moved as far as it fits.
std::vector<Start> block_starts(const Graph& graph, const Node& node, std::size_t first,
                                const Shape& block) {
  const Shape& whole = graph.type(node.inputs[0]).shape;
  std::vector<Start> starts;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    starts.push_back({first + at(axis), {}, whole[axis] - block[axis]});
  }
  return starts;
}

std::vector<Start> vector_starts(const Graph& graph, const Node& node,
                                 std::span<const Index> result, IndexTable& table) {
  const auto& a = node.as<GatherAttributes>();
  const Shape& whole = graph.type(node.inputs[0]).shape;
  std::vector<Index> place = vector_place(a, result);
  place.resize(static_cast<std::size_t>(graph.type(node.inputs[1]).rank()));
  std::vector<Start> starts;
  for (std::size_t k = 0; k < a.start_axes.size(); ++k) {
    const std::int64_t axis = a.start_axes[k];
    if (at(a.index_vector_axis) < place.size()) {
      place[at(a.index_vector_axis)] = table.constant(static_cast<std::int64_t>(k));
    }
    starts.push_back({1, place, whole[static_cast<int>(axis)] - a.sizes[at(axis)]});
  }
  return starts;
}

}  // namespace

OperandIndex operand_index(const Graph& graph, const Node& node, std::size_t operand,
                           std::span<const Index> result, std::span<const Index> starts,
                           IndexTable& table) {
  return Maps(graph, node, operand, result, starts, table).run();
}

bool is_start(const Node& node, std::size_t operand) {
  if (node.op == Op::dynamic_update_slice) return operand >= 2;
  return operand >= 1 && (node.op == Op::dynamic_slice || node.op == Op::gather);
}

std::vector<Start> starts_of(const Graph& graph, const Node& node, std::span<const Index> result,
                             IndexTable& table) {
  if (node.op == Op::gather) return vector_starts(graph, node, result, table);
  if (node.op == Op::dynamic_slice) return block_starts(graph, node, 1, node.types[0].shape);
  if (node.op == Op::dynamic_update_slice) {
    return block_starts(graph, node, 2, graph.type(node.inputs[1]).shape);
  }
  return {};
}

std::vector<Index> element_index(const Graph& graph, const Node& node, std::int64_t number,
                                 std::span<const Index> result, IndexTable& table) {
  const Shape& shape = graph.type(node.inputs[0]).shape;
  const std::vector<std::int64_t>& axes = node.as<AxesAttributes>().axes;
  std::vector<std::int64_t> sizes;
  for (std::int64_t axis : axes) sizes.push_back(shape[static_cast<int>(axis)]);
  const std::vector<Index> reduced = table.unflatten(table.constant(number), sizes);
  std::vector<Index> place(result.begin(), result.end());
  for (std::size_t i = 0; i < axes.size(); ++i) place.insert(place.begin() + axes[i], reduced[i]);
  return place;
}

Point PointTable::operator()(std::vector<Index> indices) {
  std::vector<std::uint32_t> key;
  for (Index index : indices) key.push_back(index.id);
  auto [entry, added] = ids_.emplace(std::move(key), static_cast<std::uint32_t>(points_.size()));
  if (added) points_.push_back(std::make_unique<const std::vector<Index>>(std::move(indices)));
  return {entry->second};
}

std::vector<Index> OperandPoints::starts(const Node& node, Point result) {
  std::vector<Index> made;
  for (const Start& start : starts_of(graph_, node, points_[result], table_)) {
    const Value value = node.inputs[start.operand];
    if (const auto known = integer_of(graph_, value)) {
      made.push_back(table_.constant(std::clamp<std::int64_t>(*known, 0, start.room)));
      continue;
    }
    const Index at = table_.flatten(start.at, graph_.type(value).shape.sizes());
    const auto number = static_cast<std::uint32_t>(starts_.size());
    const auto known = starts_.emplace(std::tuple(value, at.id, start.room), number).first;
    made.push_back(start.room > 0 ? table_.scalar(known->second, 0, start.room, at)
                                  : table_.constant(0));
  }
  return made;
}

Point OperandPoints::operand(const Node& node, std::size_t operand, Point result) {
  const std::vector<Index> starts = this->starts(node, result);
  return points_(operand_index(graph_, node, operand, points_[result], starts, table_).at);
}

}  // namespace anabranch
