#include "codegen/memory/in_place.h"

#include <algorithm>
#include <optional>

namespace anabranch {
namespace {

/// Where a kernel touches one buffer: the only index, if there is only one, and when.
struct Touches {
  bool any = false;
  bool is_once = true;  ///< no loop comes to a place again
  std::optional<Index> only_index;
  int first = 0, last = 0, count = 0;
};

class Walk {
 public:
  explicit Walk(const Kernel& kernel) : kernel_(kernel), touches_(kernel.buffers.size()) {
    visit(kernel.body);
  }
  const std::vector<Touches>& touches() const { return touches_; }

 private:
  void visit(const Block& block) {
    for (Ref ref : block) {
      const Operation& operation = kernel_[ref].operation;
      if (auto* load = std::get_if<Load>(&operation)) touch(load->buffer, load->index);
      if (auto* store = std::get_if<Store>(&operation)) touch(store->buffer, store->index);
      if (auto* loop = std::get_if<Loop>(&operation)) {
        loops_.push_back(ref);
        visit(loop->body);
        loops_.pop_back();
      }
    }
  }

  void touch(std::uint32_t buffer, Index index) {
    Touches& touches = touches_[buffer];
    ++now_;
    if (!touches.any) {
      touches = {true, true, index, now_, now_, 0};
    } else if (touches.only_index && !(*touches.only_index == index)) {
      touches.only_index.reset();
    }
    // What ends with an array, and would reach beyond it.
    if (has_least(index)) touches.is_once = false;
    for (Ref loop : loops_) {
      const bool turns = std::get<Loop>(kernel_[loop].operation).extent > 1;
      if (turns && !kernel_.indices.depends_on(index, loop.index)) touches.is_once = false;
    }
    touches.last = now_;
    ++touches.count;
  }

  bool has_least(Index index) const {
    return std::ranges::any_of(kernel_.indices[index].terms, [&](const IndexTable::Term& term) {
      const IndexTable::Atom& atom = kernel_.indices.atom(term.atom);
      if (atom.kind == IndexTable::Atom::Kind::least) return true;
      return atom.kind != IndexTable::Atom::Kind::loop && has_least(atom.of);
    });
  }

  const Kernel& kernel_;
  std::vector<Touches> touches_;
  std::vector<Ref> loops_;  // around what is at hand
  int now_ = 0;
};

}  // namespace

// Equal places are equal expressions.
std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place_buffers(const Kernel& kernel) {
  const Walk walk(kernel);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t read = 0; read < kernel.buffers.size(); ++read) {
    const Touches& reads = walk.touches()[read];
    const KernelBuffer& from = kernel.buffers[read];
    if (from.access != Access::read || !reads.only_index) continue;
    for (std::uint32_t written = 0; written < kernel.buffers.size(); ++written) {
      const Touches& writes = walk.touches()[written];
      const KernelBuffer& to = kernel.buffers[written];
      if (to.access != Access::write || writes.count != 1 || !writes.is_once ||
          from.size != to.size || byte_size(from.dtype) != byte_size(to.dtype)) {
        continue;
      }
      if (*writes.only_index == *reads.only_index && reads.last < writes.first) {
        pairs.emplace_back(read, written);
      }
    }
  }
  return pairs;
}

}  // namespace anabranch
