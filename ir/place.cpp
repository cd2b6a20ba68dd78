#include "ir/place.h"

namespace anabranch {

bool only_units_differ(const Shape& a, const Shape& b) {
  auto is_unit = [](std::int64_t size) { return size == 1; };
  std::vector<std::int64_t> rest_of_a, rest_of_b;
  std::remove_copy_if(a.begin(), a.end(), std::back_inserter(rest_of_a), is_unit);
  std::remove_copy_if(b.begin(), b.end(), std::back_inserter(rest_of_b), is_unit);
  return rest_of_a == rest_of_b;
}

ArrayPlace OperandPlace::operator()(const Node& node, std::size_t operand, ArrayPlace index) {
  const Shape& shape = graph_.type(node.inputs[operand]).shape;
  if (is_elementwise(node.op) && shape == node.types[0].shape) return index;
  const std::vector<Place> result = table_[index];
  std::vector<Place> places(static_cast<std::size_t>(shape.rank()), unit_place);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    places[static_cast<std::size_t>(axis)] = place(node, operand, shape, axis, index, result);
  }
  return table_.index(std::move(places));
}

Place OperandPlace::place(const Node& node, std::size_t operand, const Shape& shape, int axis,
                          ArrayPlace index, const std::vector<Place>& result) {
  const auto at = static_cast<std::size_t>(axis);
  switch (node.op) {
    case Op::broadcast_in_dim:
      return result[static_cast<std::size_t>(node.as<AxesAttributes>().axes[at])];
    case Op::transpose: {
      const auto& axes = node.as<AxesAttributes>().axes;
      return result[static_cast<std::size_t>(std::find(axes.begin(), axes.end(), axis) -
                                             axes.begin())];
    }
    case Op::slice: {
      const auto& slice = node.as<SliceAttributes>();
      bool whole = slice.start[at] == 0 && slice.stride[at] == 1 && slice.limit[at] == shape[axis];
      return whole ? result[at] : along(node.op, slice.start[at], slice.stride[at], result[at]);
    }
    case Op::reverse: {
      const auto& axes = node.as<AxesAttributes>().axes;
      bool turned = std::find(axes.begin(), axes.end(), axis) != axes.end();
      return turned ? along(node.op, shape[axis], 0, result[at]) : result[at];
    }
    case Op::pad: {
      const auto& pad = node.as<PadAttributes>();
      bool whole = pad.low[at] == 0 && pad.high[at] == 0 && pad.interior[at] == 0;
      return whole ? result[at] : along(node.op, pad.low[at], pad.interior[at], result[at]);
    }
    case Op::concatenate: {
      if (axis != node.as<AxisAttributes>().axis || node.inputs.size() == 1) return result[at];
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < operand; ++i) {
        offset += graph_.type(node.inputs[i]).shape[axis];
      }
      return along(node.op, offset, shape[axis], result[at]);
    }
    case Op::dynamic_slice: {
      bool whole = node.types[0].shape[axis] == shape[axis];
      return whole ? result[at] : from_start(node, 1 + at, result[at]);
    }
    case Op::dynamic_update_slice: {
      bool whole = node.types[0].shape[axis] == shape[axis];
      return whole ? result[at] : from_start(node, 2 + at, result[at]);
    }
    case Op::reshape:
      return reshaped(node, shape, axis, index, result);
    default:
      return unit_place;  // a scalar operand has no axes
  }
}

Place OperandPlace::along(Op op, std::int64_t a, std::int64_t b, Place inner) {
  return table_.opaque({static_cast<std::int64_t>(op), a, b, inner}, table_.depth(inner));
}

// By a start that is known only when it runs: equal where the starts are one value, for one size.
Place OperandPlace::from_start(const Node& node, std::size_t start, Place inner) {
  const Value value = node.inputs[start];
  const auto axis = static_cast<int>(start) - (node.op == Op::dynamic_slice ? 1 : 2);
  const std::int64_t size =
      graph_.type(node.inputs[node.op == Op::dynamic_slice ? 0 : 1]).shape[axis];
  return table_.opaque({static_cast<std::int64_t>(node.op), value.node, value.result, size,
                        node.types[0].shape[axis], inner},
                       table_.depth(inner));
}

Place OperandPlace::reshaped(const Node& node, const Shape& from, int axis, ArrayPlace index,
                             const std::vector<Place>& result) {
  const Shape& to = node.types[0].shape;
  if (only_units_differ(from, to)) {
    auto before = std::count_if(from.begin(), from.begin() + axis, [](auto n) { return n != 1; });
    for (int i = 0; i < to.rank(); ++i) {
      if (to[i] != 1 && before-- == 0) return result[static_cast<std::size_t>(i)];
    }
  }
  std::vector<std::int64_t> map = {static_cast<std::int64_t>(node.op), index, axis};
  map.insert(map.end(), from.begin(), from.end());
  map.push_back(-1);
  map.insert(map.end(), to.begin(), to.end());
  return table_.opaque(std::move(map), table_.depth_of(index));
}

}  // namespace anabranch
