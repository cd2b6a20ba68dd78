#include "codegen/kernel/facts.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "codegen/kernel/loop_nest.h"
#include "ir/checked.h"
#include "ir/fusion_plan.h"

namespace anabranch {
namespace {

// A bool is a mask.
int computed_bytes(Dtype dtype) { return static_cast<int>(byte_size(computes_in(dtype))); }

}  // namespace

KernelFacts::KernelFacts(const Kernel& kernel)
    : kernel_(kernel),
      table_(kernel.indices),
      places_(placing_scalars(kernel)),
      outer_(outer_loops(kernel)) {
  visit(kernel.body);
}

void KernelFacts::visit(const Block& block) {
  for (Ref ref : block) visit(ref);
}

void KernelFacts::visit(Ref ref) {
  const Instruction& instruction = kernel_[ref];
  if (auto* compute = std::get_if<Compute>(&instruction.operation)) {
    if (places_[ref.index]) return;
    const int bytes = instruction.dtype == bool_ ? 1 : computed_bytes(instruction.dtype);
    work_.push_back({operations_per_element(compute->op), bytes, open_});
  } else if (auto* load = std::get_if<Load>(&instruction.operation)) {
    accesses_.push_back({ref, false, load->buffer, load->index, open_});
    work_.push_back({0, computed_bytes(instruction.dtype), open_});
    has_scratch_ |= kernel_.buffers[load->buffer].access == anabranch::Access::scratch;
  } else if (auto* store = std::get_if<Store>(&instruction.operation)) {
    accesses_.push_back({ref, true, store->buffer, store->index, open_});
    work_.push_back({0, computed_bytes(kernel_.buffers[store->buffer].dtype), open_});
  } else if (auto* loop = std::get_if<Loop>(&instruction.operation)) {
    open_.push_back(ref);
    const bool holds_loops = std::any_of(loop->body.begin(), loop->body.end(), [&](Ref inner) {
      return std::holds_alternative<Loop>(kernel_[inner].operation);
    });
    if (!holds_loops && std::find(outer_.begin(), outer_.end(), ref) == outer_.end()) {
      leaves_.push_back({ref, open_});
    }
    visit(loop->body);
    open_.pop_back();
  }
}

bool KernelFacts::is_index_of(const IndexTable::Term& term, Ref loop) const {
  const IndexTable::Atom& atom = table_.atom(term.atom);
  return atom.kind == IndexTable::Atom::Kind::loop && atom.loop == loop.index;
}

bool is_loaded(const Kernel& kernel, const Block& block, std::uint32_t buffer) {
  return std::ranges::any_of(block, [&](Ref ref) {
    if (const auto* loop = std::get_if<Loop>(&kernel[ref].operation)) {
      return is_loaded(kernel, loop->body, buffer);
    }
    const auto* load = std::get_if<Load>(&kernel[ref].operation);
    return load && load->buffer == buffer;
  });
}

std::optional<std::int64_t> KernelFacts::stride(const Access& access, Ref loop) const {
  if (!table_.is_linear_in(access.index, loop.index)) return std::nullopt;
  return table_.factor(access.index, loop.index);
}

std::optional<std::int64_t> KernelFacts::stride_bytes(const Access& access, Ref loop) const {
  const auto by = stride(access, loop);
  if (!by) return std::nullopt;
  const Dtype dtype = kernel_.buffers[access.buffer].dtype;
  return saturating_multiply(*by, static_cast<std::int64_t>(byte_size(dtype)));
}

bool KernelFacts::is_contiguous(const Access& access, Ref loop) const {
  const auto by = stride(access, loop);
  return by && std::abs(*by) <= 1;
}

bool KernelFacts::is_same_place(const Access& a, Ref loop_of_a, const Access& b,
                                Ref loop_of_b) const {
  const auto without = [&](const Access& access, Ref loop) {
    std::vector<IndexTable::Term> terms = table_[access.index].terms;
    std::erase_if(terms, [&](const IndexTable::Term& term) { return is_index_of(term, loop); });
    return terms;
  };
  const auto step = stride(a, loop_of_a);
  return step && step == stride(b, loop_of_b) &&
         table_[a.index].constant == table_[b.index].constant &&
         without(a, loop_of_a) == without(b, loop_of_b);
}

std::int64_t KernelFacts::known_multiple(const Access& access, Ref loop) const {
  const IndexTable::Expression& expression = table_[access.index];
  std::int64_t multiple = expression.constant;
  for (const IndexTable::Term& term : expression.terms) {
    if (!is_index_of(term, loop)) multiple = std::gcd(multiple, term.factor);
  }
  return multiple;
}

double KernelFacts::times(const std::vector<Ref>& loops) const {
  double times = 1;
  for (Ref ref : loops) times *= static_cast<double>(loop(ref).usual_turns());
  return times;
}

int KernelFacts::widest_element(Ref loop) const {
  int widest = 1;
  for (const Work& work : work_) {
    const bool inside = std::find(work.loops.begin(), work.loops.end(), loop) != work.loops.end();
    if (inside) widest = std::max(widest, work.bytes);
  }
  return widest;
}

std::optional<Ref> KernelFacts::marked_lanes() const {
  const auto found = std::find_if(outer_.begin(), outer_.end(), [this](Ref ref) {
    return loop(ref).lanes != Loop::Lanes::unmarked;
  });
  return found == outer_.end() ? std::nullopt : std::optional(*found);
}

KernelFacts::Weight KernelFacts::weight(Ref loop) const {
  Weight weight;
  for (const Work& work : work_) {
    if (std::find(work.loops.begin(), work.loops.end(), loop) == work.loops.end()) continue;
    (work.operations >= heavy_operations ? weight.heavy : weight.cheap) += work.operations > 0;
  }
  return weight;
}

}  // namespace anabranch
