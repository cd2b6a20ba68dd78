#include "codegen/kernel/loop_nest.h"

#include <algorithm>

#include "ir/kernel/builder.h"

namespace anabranch {
namespace {

/// Writes the instructions of a kernel again, in order, through a builder that places them anew.
class Replay {
 public:
  explicit Replay(const Kernel& kernel, bool unrolls = false)
      : kernel_(kernel),
        unrolls_(unrolls),
        builder_(kernel.name),
        copy_(kernel.indices, builder_.indices()),
        scalars_(kernel.instructions.size()) {
    for (const KernelBuffer& buffer : kernel.buffers) builder_.add_buffer(buffer);
    copy_.set_scalars([this](std::uint32_t old) { return scalars_[old].index; });
  }

  Kernel run(std::span<const Ref> outer, const NewNest& nest) {
    std::vector<Index> indices;
    for (std::int64_t extent : nest.extents) {
      indices.push_back(builder_.index_of(builder_.open_loop(extent)));
    }
    const std::vector<Index> old = nest.old_indices(builder_.indices(), indices);
    for (std::size_t i = 0; i < outer.size(); ++i) copy_.set_loop(outer[i].index, old[i]);
    const Block* block = &kernel_.body;
    for (Ref ref : outer) {
      replay(*block, ref);
      block = &loop(ref).body;
    }
    replay(*block, {});
    for (std::size_t i = 0; i < nest.extents.size(); ++i) builder_.close_loop();
    Kernel made = builder_.take();
    made.cost = kernel_.cost;
    made.graph_text = kernel_.graph_text;
    return made;
  }

 private:
  const Loop& loop(Ref ref) const { return std::get<Loop>(kernel_[ref].operation); }

  void replay(const Block& block, Ref except) {
    for (Ref ref : block) {
      if (!(ref == except)) replay(ref);
    }
  }

  void replay(Ref ref) {
    const Instruction& instruction = kernel_[ref];
    builder_.set_location(instruction.location);
    if (std::holds_alternative<Compute>(instruction.operation)) {
      scalars_[ref.index] = compute(ref);
    } else if (auto* position = std::get_if<IndexValue>(&instruction.operation)) {
      scalars_[ref.index] = builder_.scalar(copy_(position->index));
    } else if (auto* load = std::get_if<Load>(&instruction.operation)) {
      const Ref mask = load->mask ? scalar(load->mask) : Ref{};
      scalars_[ref.index] = builder_.load(load->buffer, copy_(load->index), mask);
    } else if (auto* store = std::get_if<Store>(&instruction.operation)) {
      builder_.store(store->buffer, copy_(store->index), scalar(store->value));
    } else if (std::holds_alternative<Loop>(instruction.operation)) {
      replay_loop(ref, loop(ref));
    }
  }

  Ref compute(Ref ref) {
    const auto& old = std::get<Compute>(kernel_[ref].operation);
    const std::vector<Ref> operands = scalars(old.operands);
    return builder_.compute(old.op, kernel_[ref].dtype, operands, old.direction);
  }

  void replay_loop(Ref ref, const Loop& old) {
    if (unrolls_ && old.reductions.empty()) {
      for (std::int64_t turn = old.first; turn < old.first + old.extent; ++turn) {
        copy_.set_loop(ref.index, builder_.indices().constant(turn));
        replay(old.body, {});
      }
      return;
    }
    const Ref made = builder_.open_loop(old.extent);
    copy_.set_loop(ref.index, builder_.index_of(made));
    std::vector<Reduction> reductions;
    for (const Reduction& reduction : old.reductions) {
      reductions.push_back(
          {reduction.combine, scalars(reduction.initial), {}, {}, arguments(reduction.so_far)});
    }
    replay(old.body, {});
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      reductions[i].values = scalars(old.reductions[i].values);
    }
    reductions = builder_.close_loop(std::move(reductions));
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      for (std::size_t k = 0; k < reductions[i].results.size(); ++k) {
        scalars_[old.reductions[i].results[k].index] = reductions[i].results[k];
      }
    }
  }

  std::vector<Ref> arguments(std::span<const Ref> old) {
    std::vector<Ref> made;
    for (Ref ref : old) {
      made.push_back(builder_.argument(kernel_[ref].dtype));
      scalars_[ref.index] = made.back();
    }
    return made;
  }

  std::vector<Ref> scalars(std::span<const Ref> old) {
    std::vector<Ref> made;
    for (Ref ref : old) made.push_back(scalar(ref));
    return made;
  }

  Ref scalar(Ref ref) {
    const Instruction& instruction = kernel_[ref];
    if (auto* constant = std::get_if<ConstantInstruction>(&instruction.operation)) {
      return builder_.constant(instruction.dtype, constant->bits);
    }
    return scalars_[ref.index];
  }

  const Kernel& kernel_;
  const bool unrolls_;  // the loops inside the outer ones
  KernelBuilder builder_;
  IndexCopier copy_;
  std::vector<Ref> scalars_;  // what each old scalar has become
};

}  // namespace

std::vector<Ref> outer_loops(const Kernel& kernel) {
  std::vector<Ref> loops;
  for (const Block* block = &kernel.body;;) {
    Ref found;
    for (Ref ref : *block) {
      const Operation& operation = kernel[ref].operation;
      if (std::holds_alternative<Store>(operation)) return loops;
      if (!std::holds_alternative<Loop>(operation)) continue;
      if (found) return loops;
      found = ref;
    }
    if (!found || !std::get<Loop>(kernel[found].operation).reductions.empty()) return loops;
    loops.push_back(found);
    block = &std::get<Loop>(kernel[found].operation).body;
  }
}

Kernel with_nest(const Kernel& kernel, std::span<const Ref> outer, const NewNest& nest) {
  return Replay(kernel).run(outer, nest);
}

std::vector<std::int64_t> extents_of(const Kernel& kernel, std::span<const Ref> loops) {
  std::vector<std::int64_t> extents;
  for (Ref ref : loops) extents.push_back(std::get<Loop>(kernel[ref].operation).extent);
  return extents;
}

std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t total = 1;
  for (std::int64_t extent : extents) total *= extent;
  return total;
}

Kernel merged(const Kernel& kernel, std::size_t first, std::size_t last) {
  const std::vector<Ref> outer = outer_loops(kernel);
  const std::vector<std::int64_t> old = extents_of(kernel, outer);
  const std::span inner = std::span(old).subspan(first, last - first);
  NewNest nest;
  nest.extents.assign(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(first));
  nest.extents.push_back(product(inner));
  nest.extents.insert(nest.extents.end(), old.begin() + static_cast<std::ptrdiff_t>(last),
                      old.end());
  nest.old_indices = [&](IndexTable& table, std::span<const Index> now) {
    std::vector<Index> indices(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(first));
    for (Index index : table.unflatten(now[first], inner)) indices.push_back(index);
    indices.insert(indices.end(), now.begin() + static_cast<std::ptrdiff_t>(first) + 1, now.end());
    return indices;
  };
  return with_nest(kernel, outer, nest);
}

Kernel unrolled(const Kernel& kernel, std::size_t kept) {
  std::vector<Ref> outer = outer_loops(kernel);
  outer.resize(std::min(outer.size(), kept));
  const NewNest same{extents_of(kernel, outer), [](IndexTable&, std::span<const Index> now) {
                       return std::vector<Index>(now.begin(), now.end());
                     }};
  return Replay(kernel, true).run(outer, same);
}

Kernel reordered(const Kernel& kernel, std::span<const std::size_t> order) {
  const std::vector<Ref> outer = outer_loops(kernel);
  const std::vector<std::int64_t> old = extents_of(kernel, outer);
  NewNest nest;
  for (std::size_t position : order) nest.extents.push_back(old[position]);
  nest.old_indices = [&](IndexTable&, std::span<const Index> now) {
    std::vector<Index> indices(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) indices[order[i]] = now[i];
    return indices;
  };
  return with_nest(kernel, outer, nest);
}

}  // namespace anabranch
