#include "ir/kernel/builder.h"

#include <algorithm>

#include "ir/error.h"

namespace anabranch {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

bool same(const Instruction& a, const Instruction& b) {
  if (a.dtype != b.dtype || a.operation.index() != b.operation.index()) return false;
  if (auto* x = std::get_if<ConstantInstruction>(&a.operation)) {
    return x->bits == std::get<ConstantInstruction>(b.operation).bits;
  }
  if (auto* x = std::get_if<Compute>(&a.operation)) {
    const auto& y = std::get<Compute>(b.operation);
    return x->op == y.op && x->direction == y.direction && x->operands == y.operands;
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
  std::get<Loop>(kernel_[loop].operation).index = append({LoopIndex{}, i64, location_});
  return loop;
}

Index KernelBuilder::index_of(Ref loop) {
  return indices_.loop(loop.index, std::get<Loop>(kernel_[loop].operation).extent);
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

void KernelBuilder::open_body() { open_scope({}); }

Block KernelBuilder::close_body() {
  Block block = std::move(scopes_.back().block);
  scopes_.pop_back();
  return block;
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

Ref KernelBuilder::constant(Dtype dtype, std::uint64_t bits) {
  std::uint64_t hash = mix(mix(1, static_cast<std::uint64_t>(dtype)), bits);
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
  Compute made{op, {operands.begin(), operands.end()}, direction};
  return place({std::move(made), dtype, location_}, at, hash);
}

Index KernelBuilder::clamped(Ref scalar, std::int64_t high) {
  Ref wide = scalar;
  if (kernel_[scalar].dtype != i64) wide = compute(Op::convert, i64, {scalar});
  const Ref zero = constant(i64, 0), most = constant(i64, static_cast<std::uint64_t>(high));
  return indices_.scalar(compute(Op::clamp, i64, {zero, wide, most}).index, 0, high);
}

Ref KernelBuilder::atom(std::uint32_t number) {
  const IndexTable::Atom atom = indices_.atom(number);
  if (atom.kind == IndexTable::Atom::Kind::loop) {
    return std::get<Loop>(kernel_[Ref{atom.loop}].operation).index;
  }
  if (atom.kind == IndexTable::Atom::Kind::scalar) return Ref{atom.loop};
  constexpr Op ops[] = {Op::parameter, Op::divide, Op::remainder, Op::minimum};
  Ref by = constant(i64, static_cast<std::uint64_t>(atom.by));
  return compute(ops[static_cast<int>(atom.kind)], i64, {scalar(atom.of), by});
}

Ref KernelBuilder::scalar(Index index) {
  auto known = scalar_of_.find(index.id);
  if (known != scalar_of_.end() && is_visible(known->second)) return known->second;
  if (known == scalar_of_.end()) used_.push_back(index);

  // Outer loops' parts first, so that partial sums leave the inner loops.
  const IndexTable::Expression expression = indices_[index];
  std::vector<std::pair<Ref, std::int64_t>> parts;
  for (IndexTable::Term term : expression.terms) parts.push_back({atom(term.atom), term.factor});
  std::stable_sort(parts.begin(), parts.end(), [this](const auto& a, const auto& b) {
    return depth(a.first) < depth(b.first);
  });
  Ref sum;
  auto include = [&](Ref part) { sum = sum ? compute(Op::add, i64, {sum, part}) : part; };
  if (expression.constant != 0 || parts.empty()) {
    include(constant(i64, static_cast<std::uint64_t>(expression.constant)));
  }
  for (auto [part, factor] : parts) {
    if (factor == 1) {
      include(part);
    } else {
      include(
          compute(Op::multiply, i64, {part, constant(i64, static_cast<std::uint64_t>(factor))}));
    }
  }
  scalar_of_[index.id] = sum;
  return sum;
}

Ref KernelBuilder::load(std::uint32_t buffer, Index index, Ref mask, std::int64_t prefetch) {
  Ref place_in_buffer = scalar(index);
  const KernelBuffer& from = kernel_.buffers[buffer];
  Instruction instruction{Load{buffer, place_in_buffer, mask, prefetch}, from.dtype, location_};
  if (from.access != Access::read) {
    // Stays where it is, after the stores that it may read from.
    Ref made = append(std::move(instruction));
    scopes_.back().block.push_back(made);
    return made;
  }
  std::uint64_t hash = mix(mix(mix(3, buffer), place_in_buffer.index), mask.index);
  return place(std::move(instruction), std::max(depth(place_in_buffer), depth(mask)), hash);
}

void KernelBuilder::store(std::uint32_t buffer, Index index, Ref value) {
  Ref at = scalar(index);
  Instruction instruction{Store{buffer, at, value, false}, kernel_.buffers[buffer].dtype,
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
