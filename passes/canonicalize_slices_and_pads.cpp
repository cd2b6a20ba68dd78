#include <algorithm>
#include <set>

#include "ir/padded_axis.h"
#include "passes/canonicalize.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

bool all_zero(const Axes& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t n) { return n == 0; });
}

// --- slice ---------------------------------------------------------------------------------------

std::optional<Value> slice_of_whole(Rewriter& graph, const Node& node) {
  if (graph.type(node.inputs[0]) != node.types[0]) return std::nullopt;
  return node.inputs[0];
}

// One more axis, of `size` elements; their places fit, as those of any array do.
void push(SliceAttributes& slice, std::int64_t start, std::int64_t stride, std::int64_t size) {
  slice.start.push_back(start);
  slice.stride.push_back(stride);
  slice.limit.push_back(size == 0 ? start : start + (size - 1) * stride + 1);
}

std::optional<Value> slice_of_slice(Rewriter& graph, const Node& node) {
  const Node& below = graph.node(node.inputs[0]);
  if (below.op != Op::slice) return std::nullopt;
  const auto& outer = node.as<SliceAttributes>();
  const auto& inner = below.as<SliceAttributes>();
  SliceAttributes both;
  for (std::size_t i = 0; i < outer.start.size(); ++i) {
    const std::int64_t size = node.types[0].shape[static_cast<int>(i)];
    if (size == 0) {
      push(both, 0, 1, 0);
      continue;
    }
    // Both are places in the operand, or steps between such: they fit.
    const std::int64_t start = inner.start[i] + outer.start[i] * inner.stride[i];
    push(both, start, size == 1 ? 1 : outer.stride[i] * inner.stride[i], size);
  }
  return graph.add(Op::slice, {below.inputs[0]}, std::move(both));
}

// A stride that no second element follows is 1, and a limit is just behind the last element.
std::optional<Value> slice_in_few_words(Rewriter& graph, const Node& node) {
  const auto& given = node.as<SliceAttributes>();
  SliceAttributes slice;
  for (std::size_t i = 0; i < given.start.size(); ++i) {
    const std::int64_t size = node.types[0].shape[static_cast<int>(i)];
    push(slice, size == 0 ? 0 : given.start[i], size < 2 ? 1 : given.stride[i], size);
  }
  if (slice == given) return std::nullopt;
  return graph.add(Op::slice, {node.inputs[0]}, std::move(slice));
}

// Cutting an axis along which everything repeats only makes it shorter.
std::optional<Value> slice_of_broadcast(Rewriter& graph, const Node& node) {
  const Node& below = graph.node(node.inputs[0]);
  if (below.op != Op::broadcast_in_dim) return std::nullopt;
  const Shape& operand = graph.type(below.inputs[0]).shape;
  const Axes& axes = below.as<AxesAttributes>().axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<int>(axes[i]);
    const bool is_cut = node.types[0].shape[axis] != below.types[0].shape[axis];
    if (is_cut && operand[static_cast<int>(i)] != 1) return std::nullopt;
  }
  return graph.add(Op::broadcast_in_dim, {below.inputs[0]}, AxesAttributes{axes}, node.types[0]);
}

// A slice within one operand of a concatenation is a slice of that operand.
std::optional<Value> slice_of_concatenate(Rewriter& graph, const Node& node) {
  const Node& below = graph.node(node.inputs[0]);
  if (below.op != Op::concatenate || node.types[0].size() == 0) return std::nullopt;
  const auto axis = static_cast<int>(below.as<AxisAttributes>().axis);
  SliceAttributes slice = node.as<SliceAttributes>();
  std::int64_t& start = slice.start[static_cast<std::size_t>(axis)];
  std::int64_t& limit = slice.limit[static_cast<std::size_t>(axis)];
  for (Value operand : below.inputs) {
    const std::int64_t size = graph.type(operand).shape[axis];
    if (start < size) {
      if (limit > size) return std::nullopt;
      return graph.add(Op::slice, {operand}, std::move(slice));
    }
    start -= size;
    limit -= size;
  }
  return std::nullopt;
}

// --- reverse -------------------------------------------------------------------------------------

// Axes that it really turns: longer than 1.
std::optional<Value> reverse_of_units(Rewriter& graph, const Node& node) {
  const Axes& axes = node.as<AxesAttributes>().axes;
  Axes longer;
  for (std::int64_t axis : axes) {
    if (node.types[0].shape[static_cast<int>(axis)] > 1) longer.push_back(axis);
  }
  if (longer.empty()) return node.inputs[0];
  if (longer == axes) return std::nullopt;
  return graph.add(Op::reverse, {node.inputs[0]}, AxesAttributes{std::move(longer)});
}

std::optional<Value> reverse_of_reverse(Rewriter& graph, const Node& node) {
  const Node& below = graph.node(node.inputs[0]);
  if (below.op != Op::reverse) return std::nullopt;
  const Axes& outer = node.as<AxesAttributes>().axes;
  const Axes& inner = below.as<AxesAttributes>().axes;
  Axes once;
  std::set_symmetric_difference(outer.begin(), outer.end(), inner.begin(), inner.end(),
                                std::back_inserter(once));
  return graph.add(Op::reverse, {below.inputs[0]}, AxesAttributes{std::move(once)});
}

std::optional<Value> reverse_of_splat(Rewriter& graph, const Node& node) {
  if (!graph.splat_of(node.inputs[0])) return std::nullopt;
  return node.inputs[0];
}

// --- pad -----------------------------------------------------------------------------------------

std::optional<Value> pad_by_nothing(Rewriter& graph, const Node& node) {
  const auto& pad = node.as<PadAttributes>();
  const bool keeps = all_zero(pad.low) && all_zero(pad.high);
  if (!keeps || graph.type(node.inputs[0]) != node.types[0]) return std::nullopt;
  return node.inputs[0];
}

// A pad that only crops is a slice.
std::optional<Value> pad_that_crops(Rewriter& graph, const Node& node) {
  const auto& pad = node.as<PadAttributes>();
  const Shape& shape = graph.type(node.inputs[0]).shape;
  SliceAttributes slice;
  for (std::size_t i = 0; i < pad.low.size(); ++i) {
    const std::int64_t size = shape[static_cast<int>(i)];
    const bool only_crops = pad.low[i] <= 0 && pad.high[i] <= 0 && pad.interior[i] == 0;
    if (!only_crops || pad.low[i] < -size || pad.high[i] < -size - pad.low[i]) return std::nullopt;
    slice.start.push_back(-pad.low[i]);
    slice.limit.push_back(size + pad.high[i]);
    slice.stride.push_back(1);
  }
  return graph.add(Op::slice, {node.inputs[0]}, std::move(slice));
}

// A pad that crops everything is its second operand.
std::optional<Value> pad_without_elements(Rewriter& graph, const Node& node) {
  const auto& pad = node.as<PadAttributes>();
  const Shape& from = graph.type(node.inputs[0]).shape;
  for (std::size_t i = 0; i < pad.low.size(); ++i) {
    if (padded_axis(pad, from, node.types[0].shape, i).count > 0) continue;
    return graph.add(Op::broadcast_in_dim, {node.inputs[1]}, AxesAttributes{}, node.types[0]);
  }
  return std::nullopt;
}

// A single element has no gaps.
std::optional<Value> pad_without_gaps(Rewriter& graph, const Node& node) {
  PadAttributes pad = node.as<PadAttributes>();
  const Shape& from = graph.type(node.inputs[0]).shape;
  for (std::size_t i = 0; i < pad.interior.size(); ++i) {
    if (from[static_cast<int>(i)] == 1) pad.interior[i] = 0;
  }
  if (pad == node.as<PadAttributes>()) return std::nullopt;
  return graph.add(Op::pad, std::vector<Value>(node.inputs), std::move(pad));
}

// --- concatenate ---------------------------------------------------------------------------------

// A kernel asks for each element which operand it is from, and has a buffer for each.
constexpr std::size_t most_operands = 60;
constexpr std::size_t few_operands = 8;

// Whether a list is more than a node of its own is worth: too long, or little else than one value
// over and over, whose number doubles at each level.
bool is_too_flat(const std::vector<Value>& operands) {
  if (operands.size() <= few_operands) return false;
  const std::set<Value> distinct(operands.begin(), operands.end());
  return operands.size() > std::min(most_operands, 2 * distinct.size());
}

// Operands in consecutive parts of equal lengths, each joined.
Value joined_by_parts(Rewriter& graph, std::vector<Value> operands, std::int64_t axis) {
  while (operands.size() > most_operands) {
    const std::size_t count = (operands.size() + most_operands - 1) / most_operands;
    std::vector<Value> parts;
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin =
          operands.begin() + static_cast<std::ptrdiff_t>(i * operands.size() / count);
      const auto end =
          operands.begin() + static_cast<std::ptrdiff_t>((i + 1) * operands.size() / count);
      parts.push_back(
          graph.add(Op::concatenate, std::vector<Value>(begin, end), AxisAttributes{axis}));
    }
    operands = std::move(parts);
  }
  return graph.add(Op::concatenate, std::move(operands), AxisAttributes{axis});
}

// Without empty operands, and with the operands of operands that join along the same axis; in parts
// where there are too many.
std::optional<Value> flat_concatenate(Rewriter& graph, const Node& node) {
  const std::int64_t axis = node.as<AxisAttributes>().axis;
  auto is_empty = [&](Value v) { return graph.type(v).shape[static_cast<int>(axis)] == 0; };
  std::vector<Value> operands, flat;
  for (Value input : node.inputs) {
    if (is_empty(input)) continue;
    operands.push_back(input);
    const Node& below = graph.node(input);
    const bool joins = below.op == Op::concatenate && below.as<AxisAttributes>().axis == axis &&
                       flat.size() <= most_operands;
    if (joins) {
      flat.insert(flat.end(), below.inputs.begin(), below.inputs.end());
    } else {
      flat.push_back(input);
    }
  }
  if (!is_too_flat(flat)) operands = std::move(flat);
  if (operands.empty()) operands.push_back(node.inputs[0]);
  if (operands.size() == 1) return operands[0];
  if (operands.size() > most_operands) return joined_by_parts(graph, std::move(operands), axis);
  if (operands == node.inputs) return std::nullopt;
  return graph.add(Op::concatenate, std::move(operands), AxisAttributes{axis});
}

}  // namespace

std::vector<Rule> slice_and_pad_rules() {
  return {
      {"slice(x) = x, if whole", {Op::slice}, slice_of_whole},
      {"slice(slice(x)) = slice(x)", {Op::slice}, slice_of_slice},
      {"slice(x) = slice(x), by strides and limits that matter", {Op::slice}, slice_in_few_words},
      {"slice(broadcast(x)) = broadcast(x), along new axes", {Op::slice}, slice_of_broadcast},
      {"slice(concatenate(x, y)) = slice(x)", {Op::slice}, slice_of_concatenate},
      {"reverse(x) = x, along axes of size 1", {Op::reverse}, reverse_of_units},
      {"reverse(reverse(x)) = reverse(x)", {Op::reverse}, reverse_of_reverse},
      {"reverse(c) = c", {Op::reverse}, reverse_of_splat},
      {"pad(x) = x, by nothing", {Op::pad}, pad_by_nothing},
      {"pad(x, c) = c, if no element is left", {Op::pad}, pad_without_elements},
      {"pad(x) = pad(x), of an axis of size 1 without gaps", {Op::pad}, pad_without_gaps},
      {"pad(x) = slice(x), if it only crops", {Op::pad}, pad_that_crops},
      {"concatenate(concatenate(x, y), z) = concatenate(x, y, z)",
       {Op::concatenate},
       flat_concatenate},
  };
}

}  // namespace anabranch
