#include "codegen/lower/inline_producers.h"

#include <algorithm>

#include "anabranch/error.h"
#include "codegen/kernel/combine_op.h"
#include "codegen/lower/combiner.h"
#include "ir/fusion_plan.h"
#include "ir/integer_constant.h"
#include "ir/pointwise_loop.h"
#include "ir/scalar_index.h"

namespace anabranch {
namespace {

/// A condition that is known, or depends on the lane.
struct Condition {
  bool never = false;
  Ref ref;  // none: always
};

/// Whether all of an operand's bounds hold.
class Within {
 public:
  explicit Within(KernelBuilder& builder) : builder_(builder) {}

  void require(std::span<const OperandIndex::Bound> bounds) {
    for (const auto& [index, low, high, step] : bounds) require(index, low, high, step);
  }

  Condition condition() const { return condition_; }

 private:
  void require(Index index, std::int64_t low, std::int64_t high, std::int64_t step) {
    const auto range = builder_.indices()[index];
    if (high <= low || range.high < low || range.low >= high) condition_.never = true;
    if (condition_.never) return;
    if (range.low < low) compare(index, Comparison::ge, low);
    if (range.high >= high) compare(index, Comparison::lt, high);
    if (step == 1) return;
    Index left = builder_.indices().remainder(builder_.indices().add(index, -low), step);
    const auto rest = builder_.indices()[left];
    if (rest.low > 0) condition_.never = true;
    if (rest.high > 0 && !condition_.never) compare(left, Comparison::eq, 0);
  }

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

std::size_t InlineProducers::HashRequest::operator()(const Request& request) const {
  std::uint64_t hash = request.value.node;
  for (std::uint64_t part : {request.value.result, request.at.id, request.mask.index}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

InlineProducers::InlineProducers(const Graph& graph, KernelBuilder& builder,
                                 std::uint32_t first_buffer)
    : graph_(graph), builder_(builder), first_buffer_(first_buffer) {}

void InlineProducers::bind(Value value, Point at, Ref ref) { memo_[{value, at, {}}] = ref; }

void InlineProducers::bind(Value value, Index index) {
  indices_[value] = index;
  const Dtype dtype = graph_.type(value).dtype;
  const Ref wide = builder_.scalar(index);
  bind(value, point({}), dtype == i64 ? wide : builder_.compute(Op::convert, dtype, {wide}));
}

Ref InlineProducers::known(const Request& request) const {
  auto found = memo_.find(request);
  return found != memo_.end() && builder_.is_visible(found->second) ? found->second : Ref{};
}

// With a stack of its own: a chain of operands may be as long as the graph.
Ref InlineProducers::value_at(Value value, Point place, Ref mask) {
  const Request root{value, place, mask};
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

Ref InlineProducers::want(Value value, Point at, Ref mask) {
  const Request request{value, at, mask};
  Ref ref = known(request);
  if (!ref) missing_.push_back(request);
  return ref;
}

Ref InlineProducers::visit(const Request& request) {
  const Node& node = graph_.node(request.value.node);
  if (intercept_ && !request.mask && operations_per_element(node.op) >= kept_operations) {
    if (Ref ref = intercept_(request.value, request.at)) return ref;
  }
  builder_.set_location(node.location);
  switch (info(node.op).kind) {
    case OpKind::leaf:
      return visit_leaf(node, request);
    case OpKind::elementwise:
    case OpKind::composed:
      return visit_elementwise(node, request);
    case OpKind::index:
      return visit_index(node, request);
    default:
      break;
  }
  if (Ref bound = known({request.value, request.at, {}})) return bound;
  if (elements_written_out(graph_, node)) return visit_reduction(node, request);
  throw InternalError("lower", "%" + std::to_string(request.value.node) + " (" +
                                   std::string(name(node.op)) +
                                   ") is used where it is not computed");
}

Ref InlineProducers::visit_reduction(const Node& node, const Request& request) {
  const Type& type = graph_.type(node.inputs[0]);
  const std::int64_t count = *elements_written_out(graph_, node);
  std::vector<Ref> elements;
  for (std::int64_t number = 0; number < count; ++number) {
    const Point place =
        point(element_index(graph_, node, number, (*this)[request.at], builder_.indices()));
    elements.push_back(want(node.inputs[0], place, request.mask));
  }
  if (!missing_.empty()) return {};
  const Combiner combiner = combiner_of(node, graph_);
  const Op combine = *combine_op(combiner.combine);
  const Dtype wide = combiner.dtypes[0];
  // A sum of nothing but -0 is 0.
  Ref folded = combiner.combine == Combine::sum ? builder_.constant(wide, 0) : Ref{};
  for (Ref element : elements) {
    if (type.dtype != wide) element = builder_.compute(Op::convert, wide, {element});
    folded = folded ? builder_.compute(combine, wide, {folded, element}) : element;
  }
  const Dtype dtype = node.types[0].dtype;
  return dtype == wide ? folded : builder_.compute(Op::convert, dtype, {folded});
}

Ref InlineProducers::visit_leaf(const Node& node, const Request& request) {
  const Type& type = node.types[0];
  if (node.op == Op::parameter) {
    if (Ref bound = known({request.value, request.at, {}})) return bound;
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

Ref InlineProducers::visit_elementwise(const Node& node, const Request& request) {
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

Ref InlineProducers::visit_index(const Node& node, const Request& request) {
  if (node.op == Op::pad) return visit_pad(node, request);
  if (node.op == Op::concatenate) return visit_concatenate(node, request);
  if (node.op == Op::dynamic_update_slice) return visit_dynamic_update_slice(node, request);
  const std::vector<Index> starts = this->starts(node, request.at, request.mask);
  if (!missing_.empty()) return {};
  return want(node.inputs[0], point(operand(node, 0, request.at, starts).at), request.mask);
}

OperandIndex InlineProducers::operand(const Node& node, std::size_t operand, Point at,
                                      std::span<const Index> starts) {
  return operand_index(graph_, node, operand, (*this)[at], starts, builder_.indices());
}

Ref InlineProducers::both(Ref a, Ref b) {
  if (!a || !b) return a ? a : b;
  return builder_.compute(Op::and_, bool_, {a, b});
}

Ref InlineProducers::visit_pad(const Node& node, const Request& request) {
  OperandIndex from = operand(node, 0, request.at);
  Within within(builder_);
  within.require(from.within);
  const Condition inside = within.condition();
  if (inside.never) return want(node.inputs[1], point({}), request.mask);
  Ref element = want(node.inputs[0], point(std::move(from.at)), both(request.mask, inside.ref));
  if (!inside.ref) return element;
  Ref around = want(node.inputs[1], point({}), request.mask);
  if (!missing_.empty()) return {};
  return builder_.compute(Op::select, node.types[0].dtype, {inside.ref, element, around});
}

// Each operand is read only inside its own part; halves choose between halves, so that it takes few
// comparisons to know which one is asked for.
Ref InlineProducers::visit_concatenate(const Node& node, const Request& request) {
  const auto axis = node.as<AxisAttributes>().axis;
  IndexTable& table = builder_.indices();
  const Index along = (*this)[request.at][at(axis)];
  const std::int64_t shift = table[along].constant;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    OperandIndex from = operand(node, i, request.at);
    Within within(builder_);
    within.require(from.within);
    const Condition inside = within.condition();
    if (inside.never) continue;
    const Ref mask = both(request.mask, inside.ref);
    const std::int64_t end = from.within[0].high;
    parts.push_back({end - shift, want(node.inputs[i], point(std::move(from.at)), mask)});
  }
  if (!missing_.empty()) return {};
  if (parts.empty()) return builder_.constant(node.types[0].dtype, 0);  // the mask never holds here
  return chosen(parts, table.add(along, -shift));
}

Ref InlineProducers::chosen(std::span<const Part> parts, Index along) {
  if (parts.size() == 1) return parts[0].element;
  const std::size_t half = parts.size() / 2;
  const Ref low = chosen(parts.first(half), along), high = chosen(parts.subspan(half), along);
  const Ref bound = builder_.constant(i64, static_cast<std::uint64_t>(parts[half - 1].end));
  const Ref is_low =
      builder_.compute(Op::compare, bool_, {builder_.scalar(along), bound}, Comparison::lt);
  const Dtype dtype = builder_.kernel()[low].dtype;
  return builder_.compute(Op::select, dtype, {is_low, low, high});
}

// One that is the same everywhere is asked for without a mask, so that every lane has it: it can be
// read at any time.
std::vector<Index> InlineProducers::starts(const Node& node, Point result, Ref mask) {
  std::vector<Index> made;
  for (Start& start : starts_of(graph_, node, (*this)[result], builder_.indices())) {
    const Value value = node.inputs[start.operand];
    const Shape& shape = graph_.type(value).shape;
    if (start.room <= 0) {
      made.push_back(builder_.indices().constant(0));
      continue;
    }
    if (const auto known = integer_of(graph_, value)) {
      const auto within = std::clamp<std::int64_t>(*known, 0, start.room);
      made.push_back(builder_.indices().constant(within));
      continue;
    }
    if (const auto known = index_of(value, start.room)) {
      made.push_back(*known);
      continue;
    }
    const Index place = builder_.indices().flatten(start.at, shape.sizes());
    const Ref where = shape.rank() == 0 ? Ref{} : mask;
    if (Ref number = want(value, point(std::move(start.at)), where)) {
      made.push_back(builder_.clamped(number, start.room, place));
    }
  }
  return made;
}

// An expression of what is bound to one, where it needs no clamp.
std::optional<Index> InlineProducers::index_of(Value value, std::int64_t room) {
  if (indices_.empty()) return {};
  const auto known = [this](Value asked) -> std::optional<Index> {
    const auto found = indices_.find(asked);
    return found == indices_.end() ? std::nullopt : std::optional(found->second);
  };
  const auto made = scalar_index(graph_, value, known, builder_.indices());
  if (!made) return {};
  const IndexTable::Expression& expression = builder_.indices()[*made];
  return expression.low >= 0 && expression.high <= room ? made : std::nullopt;
}

Ref InlineProducers::visit_dynamic_update_slice(const Node& node, const Request& request) {
  const std::vector<Index> starts = this->starts(node, request.at, request.mask);
  if (!missing_.empty()) return {};
  OperandIndex from = operand(node, 1, request.at, starts);
  Within within(builder_);
  within.require(from.within);
  const Condition inside = within.condition();
  if (inside.never) return want(node.inputs[0], request.at, request.mask);
  Ref update = want(node.inputs[1], point(std::move(from.at)), both(request.mask, inside.ref));
  if (!inside.ref) return update;
  Ref around = want(node.inputs[0], request.at, request.mask);
  if (!missing_.empty()) return {};
  return builder_.compute(Op::select, node.types[0].dtype, {inside.ref, update, around});
}

}  // namespace anabranch
