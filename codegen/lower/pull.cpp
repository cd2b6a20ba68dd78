#include "codegen/lower/pull.h"

#include <algorithm>

#include "ir/error.h"
#include "ir/fusion_plan.h"
#include "ir/padded_axis.h"

namespace anabranch {
namespace {

/// A condition that is known, or depends on the lane.
struct Condition {
  bool never = false;
  Ref ref;  // none: always
};

/// Whether `low <= index < high` and `index` is a multiple of `step`.
class Within {
 public:
  explicit Within(KernelBuilder& builder) : builder_(builder) {}

  void require(Index index, std::int64_t low, std::int64_t high, std::int64_t step = 1) {
    const auto range = builder_.indices()[index];
    if (high <= low || range.high < low || range.low >= high) condition_.never = true;
    if (condition_.never) return;
    if (range.low < low) compare(index, Comparison::ge, low);
    if (range.high >= high) compare(index, Comparison::lt, high);
    if (step == 1) return;
    Index left = builder_.indices().remainder(index, step);
    const auto rest = builder_.indices()[left];
    if (rest.low > 0) condition_.never = true;
    if (rest.high > 0 && !condition_.never) compare(left, Comparison::eq, 0);
  }

  Condition condition() const { return condition_; }

 private:
  // A constant goes to the other side: what is left is often a loop's index, which costs nothing.
  void compare(Index index, Comparison direction, std::int64_t with) {
    const std::int64_t shift = builder_.indices()[index].constant;
    std::int64_t moved = 0;
    if (!__builtin_sub_overflow(with, shift, &moved)) {
      index = builder_.indices().add(index, -shift);
      with = moved;
    }
    Ref bound = builder_.constant(i64, static_cast<std::uint64_t>(with));
    Ref holds = builder_.compute(Op::compare, bool_, {builder_.scalar(index), bound}, direction);
    condition_.ref =
        condition_.ref ? builder_.compute(Op::and_, bool_, {condition_.ref, holds}) : holds;
  }

  KernelBuilder& builder_;
  Condition condition_;
};

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

}  // namespace

std::size_t Puller::HashRequest::operator()(const Request& request) const {
  std::uint64_t hash = request.value.node;
  for (std::uint64_t part : {request.value.result, request.at.id, request.mask.index}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

Puller::Puller(const Graph& graph, KernelBuilder& builder, std::uint32_t first_buffer)
    : graph_(graph), builder_(builder), first_buffer_(first_buffer) {}

Point Puller::point(std::vector<Index> indices) {
  std::vector<std::uint32_t> key;
  for (Index index : indices) key.push_back(index.id);
  auto [entry, added] =
      point_ids_.emplace(std::move(key), static_cast<std::uint32_t>(points_.size()));
  if (added) points_.push_back(std::make_unique<const std::vector<Index>>(std::move(indices)));
  return {entry->second};
}

void Puller::bind(Value value, Point at, Ref ref) { memo_[{value, at, {}}] = ref; }

Ref Puller::known(const Request& request) const {
  auto found = memo_.find(request);
  return found != memo_.end() && builder_.is_visible(found->second) ? found->second : Ref{};
}

// With a stack of its own: a chain of operands may be as long as the graph.
Ref Puller::pull(Value value, Point at, Ref mask) {
  const Request root{value, at, mask};
  if (Ref ref = known(root)) return ref;
  std::vector<Request> open = {root};
  while (!open.empty()) {
    const Request request = open.back();
    if (known(request)) {
      open.pop_back();
      continue;
    }
    missing_.clear();
    Ref ref = visit(request);
    if (missing_.empty()) {
      memo_[request] = ref;
      open.pop_back();
    } else {
      open.insert(open.end(), missing_.rbegin(), missing_.rend());
    }
  }
  return memo_[root];
}

Ref Puller::want(Value value, Point at, Ref mask) {
  const Request request{value, at, mask};
  Ref ref = known(request);
  if (!ref) missing_.push_back(request);
  return ref;
}

Ref Puller::visit(const Request& request) {
  const Node& node = graph_.node(request.value.node);
  if (intercept_ && !request.mask && operations_per_element(node.op) >= kept_operations) {
    if (Ref ref = intercept_(request.value, request.at)) return ref;
  }
  builder_.set_location(node.location);
  switch (info(node.op).kind) {
    case OpKind::leaf:
      return visit_leaf(node, request);
    case OpKind::unary:
    case OpKind::binary:
    case OpKind::ternary:
      return visit_elementwise(node, request);
    case OpKind::index:
      return visit_index(node, request);
    default:
      break;
  }
  if (Ref bound = known({request.value, request.at, {}})) return bound;
  throw InternalError("lower", "%" + std::to_string(request.value.node) + " (" +
                                   std::string(name(node.op)) +
                                   ") is used where it is not computed");
}

Ref Puller::visit_leaf(const Node& node, const Request& request) {
  const Type& type = node.types[0];
  if (node.op == Op::parameter) {
    Index flat = builder_.indices().flatten((*this)[request.at], type.shape.sizes());
    return builder_.load(first_buffer_ + request.value.node, flat, request.mask);
  }
  if (node.op == Op::iota) {
    Ref position = builder_.scalar((*this)[request.at][at(node.as<AxisAttributes>().axis)]);
    if (type.dtype == i64) return position;
    return builder_.compute(Op::convert, type.dtype, {position});
  }
  const Literal& value = node.as<ConstantAttributes>().value;
  if (!value.is_splat()) {
    throw InternalError("lower", "a constant " + to_string(type) + " is not an operand");
  }
  return builder_.constant(type.dtype, value.bits(0));
}

Ref Puller::visit_elementwise(const Node& node, const Request& request) {
  Ref operands[3];
  std::size_t count = 0;
  for (Value input : node.inputs) {
    bool same_place = graph_.type(input).shape == node.types[0].shape;
    operands[count++] = want(input, same_place ? request.at : point({}), request.mask);
  }
  if (!missing_.empty()) return {};
  Comparison direction =
      node.op == Op::compare ? node.as<CompareAttributes>().direction : Comparison::eq;
  return builder_.compute(node.op, node.types[0].dtype, std::span(operands, count), direction);
}

Ref Puller::visit_index(const Node& node, const Request& request) {
  if (node.op == Op::pad) return visit_pad(node, request);
  if (node.op == Op::concatenate) return visit_concatenate(node, request);
  if (node.op == Op::dynamic_slice) return visit_dynamic_slice(node, request);
  if (node.op == Op::dynamic_update_slice) return visit_dynamic_update_slice(node, request);
  return want(node.inputs[0], point(operand_point(node, request.at)), request.mask);
}

std::vector<Index> Puller::operand_point(const Node& node, Point result) {
  IndexTable& table = builder_.indices();
  std::span<const Index> from = (*this)[result];
  const Shape& shape = graph_.type(node.inputs[0]).shape;
  if (node.op == Op::reshape) return reshaped(shape, node.types[0].shape, from);
  std::vector<Index> point(at(shape.rank()));
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    if (node.op == Op::slice) {
      // Along a single element the stride is anything; else it is less than the axis is long.
      const auto& slice = node.as<SliceAttributes>();
      const bool is_one = node.types[0].shape[static_cast<int>(axis)] == 1;
      const Index steps = is_one ? table.constant(0) : table.scale(from[axis], slice.stride[axis]);
      point[axis] = table.add(steps, slice.start[axis]);
    } else if (node.op == Op::broadcast_in_dim) {
      bool repeats = shape[static_cast<int>(axis)] == 1;
      point[axis] = repeats ? table.constant(0) : from[at(node.as<AxesAttributes>().axes[axis])];
    } else if (node.op == Op::transpose) {
      point[at(node.as<AxesAttributes>().axes[axis])] = from[axis];
    } else {
      point[axis] = from[axis];
    }
  }
  if (node.op == Op::reverse) {
    for (std::int64_t axis : node.as<AxesAttributes>().axes) {
      point[at(axis)] =
          table.add(table.scale(from[at(axis)], -1), shape[static_cast<int>(axis)] - 1);
    }
  }
  return point;
}

// Axes whose sizes agree keep their indices: only groups of axes that change are flattened.
std::vector<Index> Puller::reshaped(const Shape& from, const Shape& to,
                                    std::span<const Index> place) {
  IndexTable& table = builder_.indices();
  std::vector<Index> point;
  std::span<const std::int64_t> in = from.sizes(), out = to.sizes();
  std::size_t i = 0, j = 0;
  while (i < in.size() || j < out.size()) {
    std::size_t first_in = i, first_out = j;
    std::int64_t in_size = i < in.size() ? in[i++] : 1;
    std::int64_t out_size = j < out.size() ? out[j++] : 1;
    while (in_size != out_size) {
      if (in_size < out_size)
        in_size *= in[i++];
      else
        out_size *= out[j++];
    }
    Index flat = table.flatten(place.subspan(first_out, j - first_out),
                               out.subspan(first_out, j - first_out));
    std::vector<Index> group = table.unflatten(flat, in.subspan(first_in, i - first_in));
    point.insert(point.end(), group.begin(), group.end());
  }
  return point;
}

Ref Puller::both(Ref a, Ref b) {
  if (!a || !b) return a ? a : b;
  return builder_.compute(Op::and_, bool_, {a, b});
}

Ref Puller::visit_pad(const Node& node, const Request& request) {
  const auto& pad = node.as<PadAttributes>();
  const Shape& shape = graph_.type(node.inputs[0]).shape;
  IndexTable& table = builder_.indices();
  Within within(builder_);
  std::vector<Index> inner;
  for (std::size_t axis = 0; axis < pad.low.size(); ++axis) {
    const PaddedAxis kept = padded_axis(pad, shape, node.types[0].shape, axis);
    Index from_first = table.add((*this)[request.at][axis], -kept.low);
    within.require(from_first, 0, kept.count * kept.step, kept.step);
    inner.push_back(table.add(table.divide(from_first, kept.step), kept.first));
  }
  const Condition inside = within.condition();
  if (inside.never) return want(node.inputs[1], point({}), request.mask);
  Point there = point(std::move(inner));
  Ref element = want(node.inputs[0], there, both(request.mask, inside.ref));
  if (!inside.ref) return element;
  Ref around = want(node.inputs[1], point({}), request.mask);
  if (!missing_.empty()) return {};
  return builder_.compute(Op::select, node.types[0].dtype, {inside.ref, element, around});
}

// Each operand is read only inside its own part; halves choose between halves, so that it takes few
// comparisons to know which one is asked for.
Ref Puller::visit_concatenate(const Node& node, const Request& request) {
  const auto axis = node.as<AxisAttributes>().axis;
  IndexTable& table = builder_.indices();
  const Index along = (*this)[request.at][at(axis)];
  const std::int64_t shift = table[along].constant;
  std::vector<Part> parts;
  std::int64_t begin = 0;
  for (Value input : node.inputs) {
    const std::int64_t size = graph_.type(input).shape[static_cast<int>(axis)];
    const std::int64_t end = begin + size;
    Within within(builder_);
    within.require(along, begin, end);
    const Condition inside = within.condition();
    if (!inside.never && size > 0) {
      std::vector<Index> inner((*this)[request.at].begin(), (*this)[request.at].end());
      inner[at(axis)] = table.add(along, -begin);
      const Ref mask = both(request.mask, inside.ref);
      parts.push_back({end - shift, want(input, point(std::move(inner)), mask)});
    }
    begin = end;
  }
  if (!missing_.empty()) return {};
  if (parts.empty()) return builder_.constant(node.types[0].dtype, 0);  // the mask never holds here
  return chosen(parts, table.add(along, -shift));
}

Ref Puller::chosen(std::span<const Part> parts, Index along) {
  if (parts.size() == 1) return parts[0].element;
  const std::size_t half = parts.size() / 2;
  const Ref low = chosen(parts.first(half), along), high = chosen(parts.subspan(half), along);
  const Ref bound = builder_.constant(i64, static_cast<std::uint64_t>(parts[half - 1].end));
  const Ref is_low =
      builder_.compute(Op::compare, bool_, {builder_.scalar(along), bound}, Comparison::lt);
  const Dtype dtype = builder_.kernel()[low].dtype;
  return builder_.compute(Op::select, dtype, {is_low, low, high});
}

// Asked for without a mask, so that every lane has the same: a start can be read at any time.
std::vector<Index> Puller::block_starts(const Node& node) {
  const bool slices = node.op == Op::dynamic_slice;
  const Shape& whole = graph_.type(node.inputs[0]).shape;
  const Shape& block = slices ? node.types[0].shape : graph_.type(node.inputs[1]).shape;
  std::vector<Index> starts;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    const std::int64_t room = whole[axis] - block[axis];
    if (room == 0) {
      starts.push_back(builder_.indices().constant(0));
    } else if (Ref start = want(node.inputs[at(axis) + (slices ? 1 : 2)], point({}), {})) {
      starts.push_back(builder_.clamped(start, room));
    }
  }
  return starts;
}

Ref Puller::visit_dynamic_slice(const Node& node, const Request& request) {
  std::vector<Index> place = block_starts(node);
  if (!missing_.empty()) return {};
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    place[axis] = builder_.indices().add(place[axis], (*this)[request.at][axis]);
  }
  return want(node.inputs[0], point(std::move(place)), request.mask);
}

Ref Puller::visit_dynamic_update_slice(const Node& node, const Request& request) {
  IndexTable& table = builder_.indices();
  const std::vector<Index> starts = block_starts(node);
  if (!missing_.empty()) return {};
  const Shape& block = graph_.type(node.inputs[1]).shape;
  Within within(builder_);
  std::vector<Index> inner;
  for (std::size_t axis = 0; axis < starts.size(); ++axis) {
    inner.push_back(table.add((*this)[request.at][axis], table.scale(starts[axis], -1)));
    within.require(inner[axis], 0, block[static_cast<int>(axis)]);
  }
  const Condition inside = within.condition();
  if (inside.never) return want(node.inputs[0], request.at, request.mask);
  Ref update = want(node.inputs[1], point(std::move(inner)), both(request.mask, inside.ref));
  if (!inside.ref) return update;
  Ref around = want(node.inputs[0], request.at, request.mask);
  if (!missing_.empty()) return {};
  return builder_.compute(Op::select, node.types[0].dtype, {inside.ref, update, around});
}

}  // namespace anabranch
