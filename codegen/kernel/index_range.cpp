#include "codegen/kernel/index_range.h"

#include <algorithm>
#include <utility>

#include "ir/scalar.h"

namespace anabranch {
namespace {

template <class T>
constexpr bool is_integral = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// What places an access is shallow; a person's arithmetic may be as deep as the graph.
constexpr int greatest_height = 64;

std::optional<Bounds> sum(Bounds a, Bounds b) {
  Bounds made;
  if (__builtin_add_overflow(a.low, b.low, &made.low)) return std::nullopt;
  if (__builtin_add_overflow(a.high, b.high, &made.high)) return std::nullopt;
  return made;
}

std::optional<Bounds> scaled(Bounds a, std::int64_t by) {
  Bounds made;
  if (__builtin_mul_overflow(a.low, by, &made.low)) return std::nullopt;
  if (__builtin_mul_overflow(a.high, by, &made.high)) return std::nullopt;
  if (by < 0) std::swap(made.low, made.high);
  return made;
}

}  // namespace

IndexRange::IndexRange(const Kernel& kernel)
    : kernel_(kernel),
      held_(kernel.instructions.size()),
      height_(kernel.instructions.size()),
      bounds_(kernel.instructions.size()),
      conditions_(kernel.instructions.size()),
      slopes_(kernel.instructions.size()) {
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Operation& operation = kernel.instructions[i].operation;
    if (const auto* loop = std::get_if<Loop>(&operation)) {
      held_[i] = {loop->first, loop->first + loop->extent - 1};
    } else if (const auto* compute = std::get_if<Compute>(&operation)) {
      for (Ref operand : compute->operands) {
        height_[i] = std::max(height_[i], 1 + height_[operand.index]);
      }
    }
  }
}

void IndexRange::hold(Ref loop, std::int64_t first, std::int64_t count) {
  held_[loop.index] = {first, first + count - 1};
  ++turn_;
}

bool IndexRange::is_shallow(Ref ref) const { return height_[ref.index] <= greatest_height; }

std::optional<std::int64_t> IndexRange::constant(Ref ref) const {
  const auto* constant = std::get_if<ConstantInstruction>(&kernel_[ref].operation);
  const Dtype dtype = kernel_[ref].dtype;
  if (!constant || !is_integer(dtype)) return std::nullopt;
  return visit_dtype(dtype, [&]<class T>() -> std::optional<std::int64_t> {
    if constexpr (is_integral<T>) {
      const auto value = static_cast<T>(constant->bits.low);
      if (std::in_range<std::int64_t>(value)) return static_cast<std::int64_t>(value);
    }
    return std::nullopt;
  });
}

std::optional<Bounds> IndexRange::bounds(Ref ref) {
  if (const auto* position = std::get_if<IndexValue>(&kernel_[ref].operation)) {
    return bounds(position->index);
  }
  if (const auto value = constant(ref)) return Bounds{*value, *value};
  const auto* compute = std::get_if<Compute>(&kernel_[ref].operation);
  if (!compute || !is_integer(kernel_[ref].dtype) || !is_shallow(ref)) return std::nullopt;
  if (bounds_[ref.index].turn != turn_) {
    bounds_[ref.index] = {turn_, compute_bounds(*compute, kernel_[ref].dtype)};
  }
  return bounds_[ref.index].value;
}

// What divides is positive, and what is divided never negative.
Bounds IndexRange::bounds(const IndexTable::Atom& atom) const {
  using Kind = IndexTable::Atom::Kind;
  if (atom.kind == Kind::loop) return held_[atom.loop];
  const Bounds known{atom.low, atom.high};
  if (atom.kind == Kind::scalar) return known;
  const auto of = bounds(atom.of);
  if (!of) return known;
  if (atom.kind == Kind::least) return {std::min(of->low, atom.by), std::min(of->high, atom.by)};
  if (of->low < 0) return known;
  if (atom.kind == Kind::quotient) return {of->low / atom.by, of->high / atom.by};
  if (of->low / atom.by != of->high / atom.by) return known;
  return {of->low % atom.by, of->high % atom.by};
}

std::optional<Bounds> IndexRange::bounds(Index index) const {
  const IndexTable::Expression& expression = kernel_.indices[index];
  std::optional<Bounds> whole = Bounds{expression.constant, expression.constant};
  for (const IndexTable::Term& term : expression.terms) {
    const auto part = scaled(bounds(kernel_.indices.atom(term.atom)), term.factor);
    whole = part && whole ? sum(*whole, *part) : std::nullopt;
  }
  return whole;
}

std::optional<Bounds> IndexRange::compute_bounds(const Compute& compute, Dtype dtype) {
  const auto a = bounds(compute.operands[0]);
  if (!a) return std::nullopt;
  if (compute.op == Op::convert) return holds(dtype, *a) ? a : std::nullopt;
  if (dtype != i64 || compute.operands.size() != 2) return std::nullopt;
  const auto b = bounds(compute.operands[1]);
  if (!b) return std::nullopt;
  const bool by_one = b->low == b->high;
  if (compute.op == Op::add) return sum(*a, *b);
  if (compute.op == Op::minimum)
    return Bounds{std::min(a->low, b->low), std::min(a->high, b->high)};
  if (compute.op == Op::subtract) {
    const auto negated = scaled(*b, -1);
    return negated ? sum(*a, *negated) : std::nullopt;
  }
  if (compute.op == Op::multiply) {
    if (by_one) return scaled(*a, b->low);
    return a->low == a->high ? scaled(*b, a->low) : std::nullopt;
  }
  if (!by_one || b->low <= 0 || a->low < 0) return std::nullopt;
  if (compute.op == Op::divide) return Bounds{a->low / b->low, a->high / b->low};
  if (compute.op != Op::remainder) return std::nullopt;
  if (a->low / b->low != a->high / b->low) return Bounds{0, b->low - 1};
  return Bounds{a->low % b->low, a->high % b->low};
}

std::optional<bool> IndexRange::condition(Ref ref) {
  if (kernel_[ref].dtype != bool_) return std::nullopt;
  if (const auto* known = std::get_if<ConstantInstruction>(&kernel_[ref].operation)) {
    return known->bits != ElementBits();
  }
  const auto* compute = std::get_if<Compute>(&kernel_[ref].operation);
  if (!compute || !is_shallow(ref)) return std::nullopt;
  if (conditions_[ref.index].turn != turn_) {
    conditions_[ref.index] = {turn_, compute_condition(*compute)};
  }
  return conditions_[ref.index].value;
}

std::optional<bool> IndexRange::compute_condition(const Compute& compute) {
  const auto& operands = compute.operands;
  if (compute.op == Op::compare) {
    const auto a = bounds(operands[0]), b = bounds(operands[1]);
    return a && b ? compared(*a, *b, compute.direction) : std::nullopt;
  }
  if (compute.op != Op::and_ && compute.op != Op::or_) return std::nullopt;
  const auto a = condition(operands[0]), b = condition(operands[1]);
  const bool decides = compute.op == Op::or_;
  if (a == decides || b == decides) return decides;
  return a && b ? std::optional(!decides) : std::nullopt;
}

std::optional<IndexRange::Slope> IndexRange::slope(Ref ref) {
  if (const auto* position = std::get_if<IndexValue>(&kernel_[ref].operation)) {
    return slope(position->index);
  }
  if (constant(ref)) return Slope{};
  const auto* compute = std::get_if<Compute>(&kernel_[ref].operation);
  if (!compute || !is_integer(kernel_[ref].dtype) || !is_shallow(ref)) return std::nullopt;
  constexpr std::uint64_t once = 1;
  if (slopes_[ref.index].turn != once) slopes_[ref.index] = {once, compute_slope(*compute)};
  return slopes_[ref.index].value;
}

std::optional<IndexRange::Slope> IndexRange::slope(Index index) const {
  using Kind = IndexTable::Atom::Kind;
  Slope whole;
  for (const IndexTable::Term& term : kernel_.indices[index].terms) {
    const IndexTable::Atom& atom = kernel_.indices.atom(term.atom);
    if (atom.kind == Kind::remainder || atom.kind == Kind::scalar) return std::nullopt;
    auto part = atom.kind == Kind::loop ? Slope{Ref{atom.loop}, 1} : slope(atom.of);
    if (!part) return std::nullopt;
    if (term.factor < 0) part->sign = -part->sign;
    if (!part->loop) continue;
    if (whole.loop && !(whole.loop == part->loop && whole.sign == part->sign)) return std::nullopt;
    whole = *part;
  }
  return whole;
}

std::optional<IndexRange::Slope> IndexRange::compute_slope(const Compute& compute) {
  const auto a = slope(compute.operands[0]);
  if (!a || compute.op == Op::convert) return a;
  if (compute.operands.size() != 2) return std::nullopt;
  auto b = slope(compute.operands[1]);
  if (!b) return std::nullopt;
  if (compute.op == Op::subtract) b->sign = -b->sign;
  if (compute.op == Op::add || compute.op == Op::subtract) {
    if (!b->loop || !a->loop) return a->loop ? a : b;
    return a->loop == b->loop && a->sign == b->sign ? a : std::nullopt;
  }
  if (b->loop) return std::nullopt;
  if (compute.op == Op::minimum) return a;
  const auto by = constant(compute.operands[1]);
  if (!by || *by == 0) return std::nullopt;
  if (compute.op == Op::multiply) return Slope{a->loop, *by < 0 ? -a->sign : a->sign};
  return compute.op == Op::divide && *by > 0 ? a : std::nullopt;
}

std::vector<std::int64_t> IndexRange::seams(Ref ref, Ref loop) {
  const auto* compute = std::get_if<Compute>(&kernel_[ref].operation);
  if (!compute || compute->op != Op::compare) return {};
  const Ref varying = compute->operands[0];
  const auto limit = constant(compute->operands[1]);
  const auto found = slope(varying);
  const Loop& whole = std::get<Loop>(kernel_[loop].operation);
  if (!limit || !found || !(found->loop == loop)) return {};

  // Whether, in that iteration, it has passed the limit, or also: has reached it.
  const auto is_beyond = [&](std::int64_t iteration, bool or_at) {
    hold(loop, iteration, 1);
    const auto value = bounds(varying);
    if (!value) return false;
    if (value->low == *limit) return or_at;
    return (value->low > *limit) == (found->sign > 0);
  };
  std::vector<std::int64_t> places;
  for (const bool or_at : {true, false}) {
    std::int64_t low = whole.first, high = whole.first + whole.extent;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (is_beyond(middle, or_at)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const bool is_inside = low > whole.first && low < whole.first + whole.extent;
    const auto in = [&](std::int64_t iteration) {
      hold(loop, iteration, 1);
      return condition(ref);
    };
    if (is_inside && in(low - 1) != in(low) && (places.empty() || places[0] != low)) {
      places.push_back(low);
    }
  }
  hold(loop, whole.first, whole.extent);
  return places;
}

}  // namespace anabranch
