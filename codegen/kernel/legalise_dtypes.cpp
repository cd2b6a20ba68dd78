#include "codegen/kernel/legalise_dtypes.h"

#include <algorithm>
#include <unordered_map>

#include "codegen/kernel/rewrite_ops.h"
#include "ir/literal.h"

namespace anabranch {
namespace {

bool is_native(Dtype dtype) { return computes_in(dtype) == dtype; }

constexpr Op half_instructions[] = {Op::add, Op::subtract, Op::multiply, Op::maximum, Op::minimum};

// The unsigned integer as wide as the float, its bits but the sign's.
struct FloatBits {
  Dtype integer;
  std::uint64_t sign;
};
FloatBits bits_of(Dtype dtype) {
  switch (byte_size(dtype)) {
    case 1:
      return {u8, 0x80};
    case 2:
      return {u16, 0x8000};
    case 4:
      return {u32, 0x80000000};
    default:
      return {u64, std::uint64_t{1} << 63};
  }
}

// Changes the sign alone, so that nothing is rounded.
void rewrite_sign(ScalarWriter& to, Ref ref, const Compute& compute, Dtype dtype) {
  const auto [integer, sign] = bits_of(dtype);
  const Ref bits = to.compute(Op::bitcast_convert, integer, {compute.operands[0]});
  const Ref changed = compute.op == Op::abs
                          ? to.compute(Op::and_, integer, {bits, to.constant(integer, sign - 1)})
                          : to.compute(Op::xor_, integer, {bits, to.constant(integer, sign)});
  to.become(ref, Compute{Op::bitcast_convert, {changed}}, dtype);
}

// x in the dtype that its own is computed in; equal ones of one op are converted once.
Ref widened(ScalarWriter& to, Ref x) {
  const Dtype from = to[x].dtype, wide = computes_in(from);
  const auto* constant = std::get_if<ConstantInstruction>(&to[x].operation);
  if (!constant) return to.convert(x, wide);
  return to.number(wide, Literal::scalar(from, constant->bits).first_as<double>());
}

void rewrite_compute(ScalarWriter& to, Ref ref, const Compute& compute, const Target& target) {
  const Dtype dtype = to[compute.operands[0]].dtype;
  if (is_legal(compute.op, dtype, target)) return;
  if (compute.op == Op::abs || compute.op == Op::negate) {
    return rewrite_sign(to, ref, compute, dtype);
  }
  const Dtype wide = computes_in(dtype);
  Compute made = compute;
  for (std::size_t i = 0; i < made.operands.size(); ++i) {
    const auto same =
        std::find(compute.operands.begin(), compute.operands.begin() + i, compute.operands[i]);
    const auto first = static_cast<std::size_t>(same - compute.operands.begin());
    made.operands[i] = first < i ? made.operands[first] : widened(to, compute.operands[i]);
  }
  if (to[ref].dtype != dtype) return to.become(ref, std::move(made), to[ref].dtype);
  const Ref unrounded = to.add(std::move(made), wide);
  to.become(ref, Compute{Op::convert, {unrounded}}, dtype);
}

// Which of a reduction's scalars are folded as others: extrema, whose values are exact there.
bool is_widened(const Kernel& kernel, const Reduction& reduction, std::size_t i) {
  return !runs_in_order(reduction.combine) && !is_native(kernel[reduction.results[i]].dtype);
}

}  // namespace

bool is_legal(Op op, Dtype operand, const Target& target) {
  if (is_native(operand) || op == Op::select || op == Op::convert || op == Op::bitcast_convert) {
    return true;
  }
  const bool is_half = operand == f16 || operand == bf16;
  return target.half_arithmetic && is_half &&
         std::ranges::find(half_instructions, op) != std::end(half_instructions);
}

Kernel legalise_dtypes(const Kernel& kernel, KernelContext& context) {
  Kernel made = kernel;
  std::unordered_map<std::uint32_t, Ref> results;  // by the old one's number
  const auto loop = [&](ScalarWriter& before, Ref ref, ScalarWriter& at_end) {
    Loop changed = std::get<Loop>(before[ref].operation);
    for (Reduction& reduction : changed.reductions) {
      for (std::size_t i = 0; i < reduction.results.size(); ++i) {
        if (!is_widened(made, reduction, i)) continue;
        const Dtype wide = computes_in(before[reduction.results[i]].dtype);
        reduction.initial[i] = widened(before, reduction.initial[i]);
        reduction.values[i] = widened(at_end, reduction.values[i]);
        made.instructions.push_back({Result{ref}, wide, before[ref].location});
        const Ref result{static_cast<std::uint32_t>(made.instructions.size() - 1)};
        results[reduction.results[i].index] = result;
        reduction.results[i] = result;
      }
    }
    before.become(ref, std::move(changed), before[ref].dtype);
  };
  const auto result = [&](ScalarWriter& to, Ref ref) {
    const auto found = results.find(ref.index);
    if (found == results.end()) return;
    to.place(found->second);
    to.become(ref, Compute{Op::convert, {found->second}}, to[ref].dtype);
  };
  const auto compute = [&](ScalarWriter& to, Ref ref, const Compute& compute) {
    rewrite_compute(to, ref, compute, context.target);
  };
  rewrite_ops(made, {compute, loop, result});
  return made;
}

}  // namespace anabranch
