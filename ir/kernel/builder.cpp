#include "ir/kernel/builder.h"

#include <algorithm>

#include "anabranch/error.h"
#include "ir/mix.h"

namespace anabranch {
namespace {

bool same(const Instruction& a, const Instruction& b) {
  if (a.dtype != b.dtype || a.operation.index() != b.operation.index()) return false;
  if (auto* x = std::get_if<ConstantInstruction>(&a.operation)) {
    return x->bits == std::get<ConstantInstruction>(b.operation).bits;
  }
  if (auto* x = std::get_if<Compute>(&a.operation)) {
    const auto& y = std::get<Compute>(b.operation);
    return x->op == y.op && x->direction == y.direction && x->operands == y.operands;
  }
  if (auto* x = std::get_if<IndexValue>(&a.operation)) {
    return x->index == std::get<IndexValue>(b.operation).index;
  }
  if (auto* x = std::get_if<Load>(&a.operation)) {
    const auto& y = std::get<Load>(b.operation);
    return x->buffer == y.buffer && x->index == y.index && x->mask == y.mask;
  }
  return false;
}

}  // namespace

KernelBuilder::KernelBuilder(std::string name) {
  kernel_.name = std::move(name);
  open_scope({});
}

std::uint32_t KernelBuilder::add_buffer(KernelBuffer buffer) {
  kernel_.buffers.push_back(std::move(buffer));
  return static_cast<std::uint32_t>(kernel_.buffers.size() - 1);
}

void KernelBuilder::open_scope(Ref loop) { scopes_.push_back({next_serial_++, loop, {}}); }

Ref KernelBuilder::append(Instruction instruction) {
  kernel_.instructions.push_back(std::move(instruction));
  home_.push_back({static_cast<std::uint32_t>(scopes_.size() - 1), scopes_.back().serial});
  return {static_cast<std::uint32_t>(kernel_.instructions.size() - 1)};
}

Ref KernelBuilder::open_loop(std::int64_t extent) {
  Loop made;
  made.extent = extent;
  Ref loop = append({made, i64, location_});
  open_scope(loop);
  return loop;
}

std::vector<Reduction> KernelBuilder::close_loop(std::vector<Reduction> reductions) {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  scopes_.back().block.push_back(scope.loop);
  for (Reduction& reduction : reductions) {
    for (Ref initial : reduction.initial) {
      Ref result = append({Result{scope.loop}, kernel_[initial].dtype, location_});
      scopes_.back().block.push_back(result);
      reduction.results.push_back(result);
    }
  }
  auto& loop = std::get<Loop>(kernel_[scope.loop].operation);
  loop.body = std::move(scope.block);
  loop.reductions = reductions;
  return reductions;
}

Ref KernelBuilder::argument(Dtype dtype) { return append({Argument{}, dtype, location_}); }

bool KernelBuilder::is_visible(Ref ref) const {
  const Home& home = home_[ref.index];
  return home.depth < scopes_.size() && scopes_[home.depth].serial == home.serial;
}

Ref KernelBuilder::find(const Instruction& instruction, std::uint64_t hash) const {
  auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (is_visible(at->second) && same(kernel_[at->second], instruction)) return at->second;
  }
  return {};
}

Ref KernelBuilder::place(Instruction instruction, std::uint32_t depth, std::uint64_t hash) {
  if (Ref known = find(instruction, hash)) return known;
  Ref made = append(std::move(instruction));
  home_[made.index] = {depth, scopes_[depth].serial};
  scopes_[depth].block.push_back(made);
  by_hash_.emplace(hash, made);
  return made;
}

Ref KernelBuilder::constant(Dtype dtype, ElementBits bits) {
  std::uint64_t hash = mix(mix(mix(1, static_cast<std::uint64_t>(dtype)), bits.low), bits.high);
  return place({ConstantInstruction{bits}, dtype, location_}, 0, hash);
}

Ref KernelBuilder::compute(Op op, Dtype dtype, std::span<const Ref> operands,
                           Comparison direction) {
  std::uint64_t hash =
      mix(mix(2, static_cast<std::uint64_t>(op)),
          static_cast<std::uint64_t>(dtype) * 8 + static_cast<std::uint64_t>(direction));
  std::uint32_t at = 0;
  for (Ref operand : operands) {
    hash = mix(hash, operand.index);
    at = std::max(at, depth(operand));
  }
  if (op == Op::real || op == Op::imag) {
    const auto* pair = std::get_if<Compute>(&kernel_[operands[0]].operation);
    if (pair && pair->op == Op::complex) return pair->operands[op == Op::real ? 0 : 1];
  }
  Compute made{op, {operands.begin(), operands.end()}, direction};
  return place({std::move(made), dtype, location_}, at, hash);
}

Index KernelBuilder::clamped(Ref scalar, std::int64_t high, Index at) {
  Ref wide = scalar;
  if (kernel_[scalar].dtype != i64) wide = compute(Op::convert, i64, {scalar});
  const Ref zero = constant(i64, 0), most = constant(i64, static_cast<std::uint64_t>(high));
  return indices().scalar(compute(Op::clamp, i64, {zero, wide, most}).index, 0, high, at);
}

// Of what it depends on, the innermost.
std::uint32_t KernelBuilder::depth(Index index) const {
  std::uint32_t deepest = 0;
  kernel_.indices.for_each_leaf(index, [&](const IndexTable::Atom& atom) {
    const bool is_loop = atom.kind == IndexTable::Atom::Kind::loop;
    deepest = std::max(deepest, depth(Ref{atom.loop}) + (is_loop ? 1 : 0));
  });
  return deepest;
}

void KernelBuilder::use(Index index) {
  if (is_used_.insert(index.id).second) used_.push_back(index);
}

Ref KernelBuilder::scalar(Index index) {
  use(index);
  if (indices().is_constant(index)) {
    return constant(i64, static_cast<std::uint64_t>(indices()[index].constant));
  }
  return place({IndexValue{index}, i64, location_}, depth(index), mix(4, index.id));
}

Ref KernelBuilder::load(std::uint32_t buffer, Index index, Ref mask, std::int64_t prefetch) {
  use(index);
  const KernelBuffer& from = kernel_.buffers[buffer];
  Instruction instruction{Load{buffer, index, mask, prefetch}, from.dtype, location_};
  if (from.access != Access::read) {
    // Stays where it is, after the stores that it may read from.
    Ref made = append(std::move(instruction));
    scopes_.back().block.push_back(made);
    return made;
  }
  std::uint64_t hash = mix(mix(mix(3, buffer), index.id), mask.index);
  return place(std::move(instruction), std::max(depth(index), depth(mask)), hash);
}

void KernelBuilder::store(std::uint32_t buffer, Index index, Ref value) {
  use(index);
  Instruction instruction{Store{buffer, index, value, false}, kernel_.buffers[buffer].dtype,
                          location_};
  Ref made = append(std::move(instruction));
  scopes_.back().block.push_back(made);
}

Kernel KernelBuilder::take() {
  if (scopes_.size() != 1) throw InternalError("lower", "a loop is still open");
  kernel_.body = std::move(scopes_[0].block);
  return std::move(kernel_);
}

}  // namespace anabranch
