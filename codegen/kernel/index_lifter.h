// IndexLifter: reads a kernel's index arithmetic back into expressions.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ir/index.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

/// For each instruction, whether it is part of what places a load or a store.
std::vector<bool> index_arithmetic(const Kernel& kernel);

/// What the loops' indices are is for the caller to say, before what depends on them is asked for.
class IndexLifter {
 public:
  IndexLifter(const Kernel& kernel, IndexTable& table);

  void set(Ref loop_index, Index index) { known_[loop_index.index] = index; }

  /// Where the expressions are to be of another kernel: what a clamped scalar has become there.
  void set_scalars(std::function<Ref(Ref)> become) { become_ = std::move(become); }

  /// Whether the scalar places a load or a store, so that its arithmetic cannot overflow.
  bool is_index(Ref ref) const { return is_index_[ref.index]; }

  /// Throws InternalError if it is not a sum of loop indices, their quotients and remainders,
  /// and of clamped scalars.
  Index operator()(Ref ref);

 private:
  const Kernel& kernel_;
  IndexTable& table_;
  std::function<Ref(Ref)> become_;
  std::vector<std::optional<Index>> known_;
  std::vector<bool> is_index_;
};

}  // namespace anabranch
