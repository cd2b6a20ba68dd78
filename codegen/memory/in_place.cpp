#include "codegen/memory/in_place.h"

#include <algorithm>

namespace anabranch {
namespace {

/// Where a kernel touches one buffer, and when.
struct Touches {
  bool is_once = true;         ///< no loop comes to a place again
  std::vector<Index> indices;  ///< each once
  int first = 0, last = 0, count = 0;
  int first_pass = 0, last_pass = 0;
};

using BufferPair = std::pair<std::uint32_t, std::uint32_t>;

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
        // Threads that share a loop wait for each other where it reduces something, and else not.
        const int pass = loop->reductions.empty() ? 1 : 0;
        passes_ += pass;
        loops_.push_back(ref);
        visit(loop->body);
        loops_.pop_back();
        passes_ += pass;
      }
    }
  }

  void touch(std::uint32_t buffer, Index index) {
    Touches& touches = touches_[buffer];
    ++now_;
    if (touches.count == 0) {
      touches.first = now_;
      touches.first_pass = passes_;
    }
    if (std::ranges::find(touches.indices, index) == touches.indices.end()) {
      touches.indices.push_back(index);
    }
    // What ends with an array, and would reach beyond it.
    if (has_least(index)) touches.is_once = false;
    for (Ref loop : loops_) {
      const bool turns = std::get<Loop>(kernel_[loop].operation).extent > 1;
      if (turns && !kernel_.indices.depends_on(index, loop.index)) touches.is_once = false;
    }
    touches.last = now_;
    touches.last_pass = passes_;
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
  int now_ = 0, passes_ = 0;
};

/// Pairs of an operand and a result of one size for which `holds`.
template <class Holds>
std::vector<BufferPair> pairs_of(const Kernel& kernel, const Holds& holds) {
  std::vector<BufferPair> pairs;
  for (std::uint32_t read = 0; read < kernel.buffers.size(); ++read) {
    const KernelBuffer& from = kernel.buffers[read];
    if (from.access != Access::read) continue;
    for (std::uint32_t written = 0; written < kernel.buffers.size(); ++written) {
      const KernelBuffer& to = kernel.buffers[written];
      if (to.access != Access::write || from.size != to.size ||
          byte_size(from.dtype) != byte_size(to.dtype)) {
        continue;
      }
      if (holds(read, written)) pairs.emplace_back(read, written);
    }
  }
  return pairs;
}

}  // namespace

// Equal places are equal expressions.
std::vector<BufferPair> in_place_buffers(const Kernel& kernel) {
  const Walk walk(kernel);
  return pairs_of(kernel, [&](std::uint32_t read, std::uint32_t written) {
    const Touches &reads = walk.touches()[read], &writes = walk.touches()[written];
    return reads.indices.size() == 1 && writes.count == 1 && writes.is_once &&
           reads.indices == writes.indices && reads.last < writes.first &&
           reads.last_pass == writes.first_pass;
  });
}

// Passes make several of a load or a store, but the same of both.
bool may_be_in_place(const Kernel& kernel) {
  const Walk walk(kernel);
  const auto pairs = pairs_of(kernel, [&](std::uint32_t read, std::uint32_t written) {
    const std::vector<Index>& writes = walk.touches()[written].indices;
    const std::vector<Index>& reads = walk.touches()[read].indices;
    return !reads.empty() && std::ranges::all_of(reads, [&](Index index) {
      return std::ranges::find(writes, index) != writes.end();
    });
  });
  return !pairs.empty();
}

}  // namespace anabranch
