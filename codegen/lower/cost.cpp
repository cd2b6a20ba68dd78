#include "codegen/lower/cost.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/checked.h"
#include "ir/fusion_plan.h"

namespace anabranch {
namespace {

/// Loops around the instruction at hand, and which of them each scalar depends on. What is too much
/// to count is as much as can be counted.
class Counter {
 public:
  explicit Counter(const Kernel& kernel)
      : kernel_(kernel), places_(placing_scalars(kernel)), depends_(kernel.instructions.size()) {}

  Cost run() {
    visit(kernel_.body, 1);
    std::vector<std::int64_t> touched(kernel_.buffers.size());
    for (const auto& [access, elements] : accesses_) {
      touched[access.first] = saturating_add(touched[access.first], elements);
    }
    for (std::size_t i = 0; i < touched.size(); ++i) {
      const KernelBuffer& buffer = kernel_.buffers[i];
      const auto bytes =
          std::min(touched[i], buffer.size) * static_cast<std::int64_t>(byte_size(buffer.dtype));
      if (buffer.access == Access::read) add(cost_.bytes_read, bytes);
      if (buffer.access == Access::write) add(cost_.bytes_written, bytes);
    }
    return cost_;
  }

 private:
  using Loops = std::vector<std::uint32_t>;

  static void add(std::int64_t& sum, std::int64_t more) { sum = saturating_add(sum, more); }

  void include(Loops& loops, Ref ref) {
    const Loops& more = depends_[ref.index];
    Loops both;
    std::set_union(loops.begin(), loops.end(), more.begin(), more.end(), std::back_inserter(both));
    loops = std::move(both);
  }

  Loops loops_of(Index index) {
    Loops loops;
    kernel_.indices.for_each_leaf(index, [&](const IndexTable::Atom& atom) {
      if (atom.kind == IndexTable::Atom::Kind::scalar) return include(loops, Ref{atom.loop});
      const auto at = std::lower_bound(loops.begin(), loops.end(), atom.loop);
      if (at == loops.end() || *at != atom.loop) loops.insert(at, atom.loop);
    });
    return loops;
  }

  void touch(std::uint32_t buffer, Index index) {
    std::int64_t elements = 1;
    for (std::uint32_t loop : loops_of(index)) {
      const std::int64_t turns = std::get<Loop>(kernel_[Ref{loop}].operation).usual_turns();
      elements = saturating_multiply(elements, turns);
    }
    accesses_[{buffer, index.id}] = elements;
  }

  void visit(const Block& block, std::int64_t times) {
    for (Ref ref : block) visit(ref, times);
  }

  void visit(Ref ref, std::int64_t times) {
    const Operation& operation = kernel_[ref].operation;
    Loops& loops = depends_[ref.index];
    if (auto* compute = std::get_if<Compute>(&operation)) {
      for (Ref operand : compute->operands) include(loops, operand);
      const int operations = operations_per_element(compute->op);
      if (!places_[ref.index]) add(cost_.operations, saturating_multiply(times, operations));
    } else if (auto* load = std::get_if<Load>(&operation)) {
      loops = loops_of(load->index);
      touch(load->buffer, load->index);
    } else if (auto* position = std::get_if<IndexValue>(&operation)) {
      loops = loops_of(position->index);
    } else if (auto* store = std::get_if<Store>(&operation)) {
      touch(store->buffer, store->index);
    } else if (auto* loop = std::get_if<Loop>(&operation)) {
      const std::int64_t all = saturating_multiply(times, loop->usual_turns());
      visit(loop->body, all);
      for (const Reduction& reduction : loop->reductions) {
        if (!runs_in_order(reduction.combine)) add(cost_.operations, all);
      }
    }
  }

  const Kernel& kernel_;
  Cost cost_;
  std::vector<bool> places_;
  std::vector<Loops> depends_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> accesses_;
};

}  // namespace

Cost measure(const Kernel& kernel) { return Counter(kernel).run(); }

}  // namespace anabranch
