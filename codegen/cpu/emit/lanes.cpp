#include "codegen/cpu/emit/lanes.h"

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <span>

#include "ir/checked.h"

namespace anabranch::cpu {
namespace {

// Calls `visit(user, operand)` for every use of a scalar; `user` is the instruction that uses it.
template <class Visit>
void for_each_use(const ExpandedKernel& expanded, Visit&& visit) {
  const Kernel& kernel = expanded.kernel;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Operation& operation = kernel.instructions[i].operation;
    if (const auto* compute = std::get_if<Compute>(&operation)) {
      for (Ref operand : compute->operands) visit(Ref{i}, operand);
    } else if (const auto* load = std::get_if<Load>(&operation)) {
      visit(Ref{i}, expanded[Ref{i}]);
      if (load->mask) visit(Ref{i}, load->mask);
    } else if (const auto* store = std::get_if<Store>(&operation)) {
      visit(Ref{i}, expanded[Ref{i}]);
      visit(Ref{i}, store->value);
    } else if (const auto* loop = std::get_if<Loop>(&operation)) {
      for (const Reduction& reduction : loop->reductions) {
        for (Ref operand : reduction.initial) visit(Ref{i}, operand);
        for (Ref operand : reduction.values) visit(Ref{i}, operand);
      }
    }
  }
}

}  // namespace

std::vector<bool> contracted_products(const ExpandedKernel& expanded) {
  const Kernel& kernel = expanded.kernel;
  std::vector<int> uses(kernel.instructions.size());
  for_each_use(expanded, [&](Ref, Ref operand) { ++uses[operand.index]; });
  std::vector<bool> contracted(kernel.instructions.size());
  std::vector<const Block*> home(kernel.instructions.size());
  // A product outside the block of its use stays there: it is computed less often.
  auto contract = [&](std::span<const Ref> operands, Dtype dtype, const Block& block) {
    if (dtype != f32 && dtype != f64) return;
    for (Ref ref : operands) {
      const auto* product = std::get_if<Compute>(&kernel[ref].operation);
      if (!product || product->op != Op::multiply) continue;
      if (uses[ref.index] != 1 || home[ref.index] != &block) continue;
      contracted[ref.index] = true;
      return;
    }
  };
  auto visit = [&](auto& self, const Block& block) -> void {
    for (Ref ref : block) {
      home[ref.index] = &block;
      if (const auto* compute = std::get_if<Compute>(&kernel[ref].operation)) {
        if (compute->op == Op::add || compute->op == Op::subtract) {
          contract(compute->operands, kernel[ref].dtype, block);
        }
      } else if (const auto* loop = std::get_if<Loop>(&kernel[ref].operation)) {
        self(self, loop->body);
        for (const Reduction& reduction : loop->reductions) {
          if (reduction.combine != Combine::sum) continue;
          contract(reduction.values, kernel[reduction.results[0]].dtype, loop->body);
        }
      }
    }
  };
  visit(visit, kernel.body);
  return contracted;
}

Lanes::Lanes(const ExpandedKernel& kernel, Ref ref, const std::vector<bool>& contracted)
    : expanded_(kernel),
      kernel_(kernel.kernel),
      contracted_(contracted),
      facts_(kernel_.instructions.size()) {
  const auto& loop = std::get<Loop>(kernel_[ref].operation);
  facts_[kernel[ref].index] = {.varying = true, .steps = {{}, 0, 0, 0, 1}};
  vary(loop.body);
  for (const Reduction& reduction : loop.reductions) {
    for (Ref value : reduction.values) need_value(value, true);
  }
  need(loop.body);
}

std::optional<std::int64_t> Lanes::stride(Ref ref) const {
  const Fact& fact = facts_[ref.index];
  if (!fact.affine || fact.steps.by != 0) return std::nullopt;
  return fact.steps.stride;
}

std::optional<Lanes::Steps> Lanes::steps(Ref ref) const {
  const Fact& fact = facts_[ref.index];
  if (!fact.affine || fact.steps.by == 0) return std::nullopt;
  return fact.steps;
}

std::optional<std::int64_t> Lanes::constant(Ref ref) const {
  const auto* constant = std::get_if<ConstantInstruction>(&kernel_[ref].operation);
  if (!constant) return std::nullopt;
  return static_cast<std::int64_t>(constant->bits.low);
}

// --- which values vary, in the order of execution
// ---------------------------------------------------

void Lanes::vary(const Block& block) {
  for (Ref ref : block) {
    const Operation& operation = kernel_[ref].operation;
    if (const auto* compute = std::get_if<Compute>(&operation)) {
      vary(ref, *compute);
    } else if (const auto* load = std::get_if<Load>(&operation)) {
      bool varying = this->varying(expanded_[ref]) || (load->mask && this->varying(load->mask));
      facts_[ref.index] = {.varying = varying, .affine = !varying};
    } else if (const auto* loop = std::get_if<Loop>(&operation)) {
      vary(*loop);
    }
  }
}

void Lanes::vary(Ref ref, const Compute& compute) {
  Fact fact;
  fact.varying = std::ranges::any_of(compute.operands, [&](Ref r) { return varying(r); });
  if (fact.varying) {
    const std::optional<Steps> steps = steps_of(ref, compute);
    fact.affine = steps.has_value();
    fact.steps = steps.value_or(Steps{});
    const Steps& s = fact.steps;
    if (fact.affine && s.by == 0 && s.stride == 0) fact.varying = false;
  }
  facts_[ref.index] = fact;
}

std::optional<Lanes::Steps> Lanes::steps_of(Ref ref, const Compute& compute) const {
  if (kernel_[ref].dtype != i64) return std::nullopt;
  const Ref x = compute.operands[0], y = compute.operands.back();
  if (!facts_[x.index].affine || !facts_[y.index].affine) return std::nullopt;
  const Steps& steps = facts_[x.index].steps;
  switch (compute.op) {
    case Op::add:
      return sum(steps, 1, facts_[y.index].steps);
    case Op::subtract:
      return sum(steps, -1, facts_[y.index].steps);
    case Op::negate:
      return sum({}, -1, steps);
    case Op::multiply:
      if (const auto factor = constant(y)) return sum({}, *factor, steps);
      if (const auto factor = constant(x)) return sum({}, *factor, facts_[y.index].steps);
      return std::nullopt;
    case Op::divide:
    case Op::remainder:
      return division(ref, compute);
    default:
      return std::nullopt;
  }
}

// a + factor * b, where one number and one divisor do for both.
std::optional<Lanes::Steps> Lanes::sum(const Steps& a, std::int64_t factor, const Steps& b) {
  if (a.by != 0 && b.by != 0 && (a.by != b.by || a.dividend != b.dividend)) return std::nullopt;
  Steps made = a.by != 0 ? a : b;
  constexpr std::int64_t most = std::int64_t{1} << 32;  // so that what lanes add fits 64 bits
  for (auto part : {&Steps::quotient, &Steps::remainder, &Steps::stride}) {
    made.*part = saturating_add(a.*part, saturating_multiply(factor, b.*part));
    if (std::abs(saturating_add(made.*part, 1)) > most) return std::nullopt;
  }
  return made;
}

std::optional<Lanes::Steps> Lanes::division(Ref ref, const Compute& compute) const {
  if (!expanded_.is_of_places(ref)) return std::nullopt;
  const std::int64_t grows = stride(compute.operands[0]).value_or(0);
  const std::optional<std::int64_t> by = constant(compute.operands[1]);
  constexpr std::int64_t most = std::int64_t{1} << 20;  // so that what lanes add fits 32 bits
  if (!by || *by > most || grows <= 0 || grows > most) return std::nullopt;
  const bool is_quotient = compute.op == Op::divide;
  return Steps{compute.operands[0], *by, is_quotient ? 1 : 0, is_quotient ? 0 : 1, 0};
}

void Lanes::vary(const Loop& loop) {
  const auto any_varies = [&](const std::vector<Ref>& refs) {
    return std::ranges::any_of(refs, [&](Ref ref) { return varying(ref); });
  };
  const auto set = [&](const std::vector<Ref>& refs, bool varies) {
    for (Ref ref : refs) facts_[ref.index] = {.varying = varies, .affine = !varies};
  };
  for (const Reduction& reduction : loop.reductions) {
    set(reduction.so_far, any_varies(reduction.initial));
  }
  // What an iteration hands on may vary where what it began with did not.
  for (bool changed = true; changed;) {
    changed = false;
    vary(loop.body);
    for (const Reduction& reduction : loop.reductions) {
      if (reduction.so_far.empty() || any_varies(reduction.so_far)) continue;
      if (!any_varies(reduction.values)) continue;
      set(reduction.so_far, true);
      changed = true;
    }
  }
  for (const Reduction& reduction : loop.reductions) {
    set(reduction.results, any_varies(reduction.initial) || any_varies(reduction.values));
  }
}

// --- which forms are needed, against the order of execution
// ------------------------------------------

void Lanes::need_value(Ref ref, bool as_vector) {
  (as_vector ? facts_[ref.index].needs_vector : facts_[ref.index].needs_scalar) = true;
}

void Lanes::need_index(Ref index) { need_value(index, !stride(index)); }

void Lanes::need(const Block& block) {
  for (Ref ref : std::views::reverse(block)) {
    const Operation& operation = kernel_[ref].operation;
    if (const auto* compute = std::get_if<Compute>(&operation)) {
      if (is_needed(ref)) need(ref, *compute);
    } else if (const auto* load = std::get_if<Load>(&operation)) {
      if (!is_needed(ref)) continue;
      need_index(expanded_[ref]);
      if (load->mask) need_value(load->mask, varying(ref));
    } else if (const auto* store = std::get_if<Store>(&operation)) {
      need_index(expanded_[ref]);
      need_value(store->value, varying(expanded_[ref]) || varying(store->value));
    } else if (const auto* loop = std::get_if<Loop>(&operation)) {
      need(*loop);
    }
  }
}

void Lanes::need(Ref ref, const Compute& compute) {
  if (const auto stepped = steps(ref)) {
    need_value(ref, false);
    need_value(stepped->dividend, false);
    for (Ref operand : compute.operands) need_value(operand, false);
    return;
  }
  for (Ref operand : compute.operands) {
    if (contracted_[ref.index]) {
      // Never computed by itself: its user takes the operands in the form of its own.
      if (needs_vector(ref)) need_value(operand, true);
      if (needs_scalar(ref)) need_value(operand, false);
    } else {
      if (needs_vector(ref)) need_value(operand, varying(ref));
      if (needs_scalar(ref)) need_value(operand, false);
    }
  }
}

void Lanes::need(const Loop& loop) {
  for (const Reduction& reduction : loop.reductions) {
    bool as_vector = varying(reduction.results[0]);
    for (Ref ref : reduction.initial) need_value(ref, as_vector);
    for (Ref ref : reduction.values) need_value(ref, as_vector);
  }
  need(loop.body);
}

}  // namespace anabranch::cpu
