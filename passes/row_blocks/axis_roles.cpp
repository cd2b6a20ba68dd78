#include "passes/row_blocks/axis_roles.h"

#include <algorithm>

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;
using Kind = AxisRole::Kind;

bool contains(const Axes& axes, std::int64_t axis) { return std::ranges::count(axes, axis) > 0; }

/// Roles as they are found: at first every axis is whole.
struct Finder {
  const Node& node;
  std::span<const Type> operands;
  AxisRoles roles;

  Finder(const Node& of, std::span<const Type> types) : node(of), operands(types) {
    for (const Type& type : types) {
      roles.operands.emplace_back(static_cast<std::size_t>(type.rank()));
    }
    roles.is_cut.assign(static_cast<std::size_t>(node.types[0].rank()), false);
  }

  void keep(std::size_t operand, std::int64_t axis, std::int64_t result_axis) {
    roles.operands[operand][static_cast<std::size_t>(axis)] = {Kind::kept, result_axis};
    roles.is_cut[static_cast<std::size_t>(result_axis)] = true;
  }
  void sum(std::size_t operand, std::int64_t axis, std::int64_t number) {
    roles.operands[operand][static_cast<std::size_t>(axis)] = {Kind::summed, number};
  }
  std::int64_t size(std::size_t operand, std::int64_t axis) const {
    return operands[operand].shape[static_cast<int>(axis)];
  }

  /// Axis i of the first operand is axis i of the result, for those that `is_kept`.
  template <class IsKept>
  void keep_each(IsKept is_kept) {
    for (std::int64_t axis = 0; axis < operands[0].rank(); ++axis) {
      if (is_kept(axis)) keep(0, axis, axis);
    }
  }

  void elementwise();
  void broadcast();
  void reshape();
  void reduction(const Axes& axes, bool sums);
  void dot();
};

void Finder::elementwise() {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    // A scalar operand is read whole.
    for (std::int64_t axis = 0; axis < operands[i].rank(); ++axis) keep(i, axis, axis);
  }
}

void Finder::broadcast() {
  const Axes& axes = node.as<AxesAttributes>().axes;
  roles.is_cut.assign(roles.is_cut.size(), true);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (size(0, axis) == node.types[0].shape[static_cast<int>(axes[i])]) keep(0, axis, axes[i]);
  }
}

// An axis survives where as many elements are before it, and it has the same size.
void Finder::reshape() {
  const Shape &from = operands[0].shape, &to = node.types[0].shape;
  std::int64_t before = 1, before_result = 1;
  int axis = 0, result_axis = 0;
  while (axis < from.rank() && result_axis < to.rank()) {
    if (before == before_result && from[axis] == to[result_axis]) keep(0, axis, result_axis);
    if (before * from[axis] <= before_result * to[result_axis]) {
      before *= from[axis++];
      if (before == before_result * to[result_axis]) before_result *= to[result_axis++];
    } else {
      before_result *= to[result_axis++];
    }
  }
}

void Finder::reduction(const Axes& axes, bool sums) {
  std::int64_t result_axis = 0;
  for (std::int64_t axis = 0; axis < operands[0].rank(); ++axis) {
    if (!contains(axes, axis)) {
      keep(0, axis, result_axis++);
    } else if (sums) {
      sum(0, axis, axis);
    }
  }
}

void Finder::dot() {
  const auto& dot = node.as<DotAttributes>();
  std::int64_t result_axis = 0;
  for (std::size_t i = 0; i < dot.lhs_batch.size(); ++i, ++result_axis) {
    keep(0, dot.lhs_batch[i], result_axis);
    keep(1, dot.rhs_batch[i], result_axis);
  }
  for (std::size_t i = 0; i < dot.lhs_contracting.size(); ++i) {
    sum(0, dot.lhs_contracting[i], static_cast<std::int64_t>(i));
    sum(1, dot.rhs_contracting[i], static_cast<std::int64_t>(i));
  }
  const Axes* named[2][2] = {{&dot.lhs_batch, &dot.lhs_contracting},
                             {&dot.rhs_batch, &dot.rhs_contracting}};
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::int64_t axis = 0; axis < operands[side].rank(); ++axis) {
      if (contains(*named[side][0], axis) || contains(*named[side][1], axis)) continue;
      keep(side, axis, result_axis++);
    }
  }
}

bool has_no_room(const PadAttributes& pad, std::int64_t axis) {
  const auto i = static_cast<std::size_t>(axis);
  return pad.low[i] == 0 && pad.high[i] == 0 && pad.interior[i] == 0;
}

}  // namespace

Type with_size(const Type& type, std::int64_t axis, std::int64_t size) {
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes[static_cast<std::size_t>(axis)] = size;
  return {type.dtype, Shape(std::move(sizes))};
}

std::optional<AxisRoles> axis_roles(const Node& node, std::span<const Type> operands) {
  if (node.types.size() != 1) return {};
  Finder find(node, operands);
  if (is_elementwise(node.op)) {
    find.elementwise();
    return std::move(find.roles);
  }
  switch (node.op) {
    case Op::iota:
      find.roles.is_cut.assign(find.roles.is_cut.size(), true);
      break;
    case Op::constant:
      if (node.types[0].rank() > 0) return {};
      break;
    case Op::broadcast_in_dim:
      find.broadcast();
      break;
    case Op::reshape:
      find.reshape();
      break;
    case Op::transpose: {
      const Axes& axes = node.as<AxesAttributes>().axes;
      for (std::size_t i = 0; i < axes.size(); ++i) {
        find.keep(0, axes[i], static_cast<std::int64_t>(i));
      }
      break;
    }
    case Op::reverse:
      find.keep_each([&](auto axis) { return !contains(node.as<AxesAttributes>().axes, axis); });
      break;
    case Op::slice:
    case Op::dynamic_slice:  // of all elements there is but one, at 0
      find.keep_each([&](auto axis) {
        return find.size(0, axis) == node.types[0].shape[static_cast<int>(axis)];
      });
      break;
    case Op::pad:
      find.keep_each([&](auto axis) { return has_no_room(node.as<PadAttributes>(), axis); });
      break;
    case Op::concatenate:
      for (std::size_t i = 0; i < operands.size(); ++i) {
        for (std::int64_t axis = 0; axis < operands[i].rank(); ++axis) {
          if (axis != node.as<AxisAttributes>().axis) find.keep(i, axis, axis);
        }
      }
      break;
    case Op::reduce_sum:
      find.reduction(node.as<AxesAttributes>().axes, true);
      break;
    case Op::reduce_product:
    case Op::reduce_max:
    case Op::reduce_min:
    case Op::reduce_any:
    case Op::reduce_all:
      find.reduction(node.as<AxesAttributes>().axes, false);
      break;
    case Op::argmax:
    case Op::argmin:
      find.reduction({node.as<AxisAttributes>().axis}, false);
      break;
    case Op::dot:
      find.dot();
      break;
    default:
      return {};
  }
  return std::move(find.roles);
}

namespace {

Attributes cut_attributes(const Node& node, std::int64_t axis, std::int64_t size) {
  const auto at = static_cast<std::size_t>(axis);
  Attributes cut = node.attributes;
  if (auto* slice = std::get_if<SliceAttributes>(&cut)) slice->limit[at] = size;
  if (auto* slice = std::get_if<SizesAttributes>(&cut)) slice->sizes[at] = size;
  return cut;
}

// Counted in i64, and converted as an iota is.
Value add_positions(GraphBuilder& to, const Type& type, std::int64_t axis, Value offset) {
  const Type counts{Dtype::i64, type.shape};
  const Value from_0 = to.add(Op::iota, {}, AxisAttributes{axis}, counts);
  const Value first = to.add(Op::broadcast_in_dim, {offset}, AxesAttributes{}, counts);
  const Value places = to.add(Op::add, {from_0, first});
  if (type.dtype == Dtype::i64) return places;
  return to.add(Op::convert, {places}, NoAttributes{}, type);
}

}  // namespace

Value add_block(GraphBuilder& to, const Node& node, std::vector<Value> inputs, std::int64_t axis,
                std::int64_t size, Value offset) {
  const Type type = with_size(node.types[0], axis, size);
  if (node.op == Op::iota && node.as<AxisAttributes>().axis == axis) {
    return add_positions(to, type, axis, offset);
  }
  const bool is_stated = info(node.op).has(OpInfo::typed);
  return to.add(node.op, std::move(inputs), cut_attributes(node, axis, size),
                is_stated ? std::optional(type) : std::nullopt, node.regions, node.location);
}

}  // namespace anabranch
