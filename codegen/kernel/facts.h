// What kernel passes want to know of a kernel: its loops, how its accesses move with each, how much
// it computes where.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/index.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

/// Whether some load of the block reads the buffer.
bool is_loaded(const Kernel& kernel, const Block& block, std::uint32_t buffer);

class KernelFacts {
 public:
  explicit KernelFacts(const Kernel& kernel);

  /// A load or a store, with the loops around it, outermost first.
  struct Access {
    Ref ref;
    bool is_store = false;
    std::uint32_t buffer = 0;
    Index index;
    std::vector<Ref> loops;
  };

  /// A scalar that is loaded or computed, those of index arithmetic left out.
  struct Work {
    int operations = 0;  ///< as `Cost` counts them
    int bytes = 1;       ///< of the element as it is computed with
    std::vector<Ref> loops;
  };

  /// A loop that holds no other, and is not one of the outer ones.
  struct Leaf {
    Ref loop;
    std::vector<Ref> loops;  ///< around it, itself included
  };

  const std::vector<Ref>& outer() const { return outer_; }
  const std::vector<Access>& accesses() const { return accesses_; }
  const std::vector<Work>& work() const { return work_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  bool has_scratch() const { return has_scratch_; }
  /// The outer loop that is to become lanes, if one is marked.
  std::optional<Ref> marked_lanes() const;
  const Loop& loop(Ref ref) const { return std::get<Loop>(kernel_[ref].operation); }

  /// Operations of an approximate op, as `Cost` counts them.
  static constexpr int heavy_operations = 10;
  /// How many scalars a loop computes: by approximate ops, and by others.
  struct Weight {
    int cheap = 0, heavy = 0;
  };
  Weight weight(Ref loop) const;

  /// By how much the access moves with each step of the loop, if that is one number.
  std::optional<std::int64_t> stride(const Access& access, Ref loop) const;
  /// The same in bytes.
  std::optional<std::int64_t> stride_bytes(const Access& access, Ref loop) const;
  /// Whether it moves by one element, forwards or backwards, or not at all.
  bool is_contiguous(const Access& access, Ref loop) const;
  bool depends_on(const Access& access, Ref loop) const {
    return table_.depends_on(access.index, loop.index);
  }

  /// Whether iteration k of one loop and of the other touch one place, all else being equal.
  bool is_same_place(const Access& a, Ref loop_of_a, const Access& b, Ref loop_of_b) const;

  /// A number that the access's index is always a multiple of where the loop's own is 0; 0 for 0.
  std::int64_t known_multiple(const Access& access, Ref loop) const;

  /// How often what stands in these loops runs.
  double times(const std::vector<Ref>& loops) const;

  /// The widest element among what is loaded, stored and computed in `loop`, in bytes.
  int widest_element(Ref loop) const;

 private:
  void visit(const Block& block);
  void visit(Ref ref);
  bool is_index_of(const IndexTable::Term& term, Ref loop) const;

  const Kernel& kernel_;
  const IndexTable& table_;
  const std::vector<bool> places_;  // scalars that do no more than place accesses
  std::vector<Ref> outer_, open_;
  std::vector<Access> accesses_;
  std::vector<Work> work_;
  std::vector<Leaf> leaves_;
  bool has_scratch_ = false;
};

}  // namespace anabranch
