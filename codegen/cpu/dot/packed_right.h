// The right operand of a dot that has many rows, laid out once as the library likes it, for every
// block of rows to read.
#pragma once

#include <cstdint>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "runtime/device/task.h"

namespace anabranch::cpu {

/// Work that takes less is not worth another thread.
inline constexpr double worthwhile_ns = 20'000;

/// Copies a matrix into a layout of the library's, several columns at a time.
class PackedRight {
 public:
  /// From `plain` to `packed`, both [inner, columns]; null for a layout that is not made of equal
  /// pieces.
  static std::shared_ptr<const PackedRight> make(const dnnl::memory::desc& plain,
                                                 const dnnl::memory::desc& packed,
                                                 const dnnl::engine& engine);

  const dnnl::memory::desc& layout() const { return packed_; }
  /// Its buffers: the matrix, room for `layout().get_size()` bytes. An iteration is a piece.
  static HostTask task(std::shared_ptr<const PackedRight> self);

 private:
  PackedRight() = default;
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const;

  dnnl::memory::desc packed_;
  dnnl::engine engine_;
  std::int64_t pieces_ = 0;
  dnnl::memory::desc from_, to_;              // of the first piece
  std::int64_t from_step_ = 0, to_step_ = 0;  // bytes from one piece to the next
  dnnl::reorder copy_;                        // of any piece
};

}  // namespace anabranch::cpu
