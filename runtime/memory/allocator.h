// Allocator: a device's memory, kept for reuse because fresh pages cost more than most kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "anabranch/device.h"
#include "anabranch/device_memory.h"
#include "runtime/device/stream_executor.h"

namespace anabranch {

/// A piece of memory as the allocator hands it out: at least what was asked for, aligned to
/// `memory_alignment`.
struct Allocation {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Below 2 MB, freed blocks wait in lists by size class, eight to the octave (at most 1/8 is
/// wasted). Larger blocks are mapped on huge pages, and reused for anything not less than 4/5 of
/// their size; what is held then stays within 5/4 of the most that was ever in use. Where the
/// device works by itself it has a pool of its own, and the order of its main stream is the order
/// in which memory comes and goes. Thread-safe.
class Allocator {
 public:
  /// `stream_executor`: null for a device whose memory is the host's.
  explicit Allocator(Device device, StreamExecutor* stream_executor = nullptr)
      : device_(device), stream_executor_(stream_executor) {}
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// Throws Error, naming the device, the bytes asked for and the bytes in use.
  Allocation allocate(std::size_t bytes);
  void free(Allocation block) noexcept;

  MemoryUse use() const;
  void reset_peak();
  void release_cached();
  void set_limit(std::size_t bytes);
  void fail_after(std::uint64_t allocations);

 private:
  struct CachedLarge {
    Allocation block;
    std::uint64_t freed_at = 0;
  };
  static constexpr int class_count = 112;

  Allocation allocate_on_device(std::size_t bytes);
  Allocation allocate_large(std::size_t bytes);
  void release_oldest_large();
  void release_cached_locked();
  void take_into_use(std::size_t bytes);
  std::size_t left_on_host() const;
  [[noreturn]] void throw_full(std::size_t bytes) const;

  const Device device_;
  StreamExecutor* const stream_executor_;
  mutable std::mutex mutex_;
  std::array<std::vector<void*>, class_count> small_;
  std::vector<CachedLarge> large_;
  MemoryUse use_;
  std::size_t highest_ = 0;  // of use_.in_use, since the beginning
  std::size_t limit_ = SIZE_MAX;
  std::uint64_t frees_ = 0;
  std::uint64_t until_failure_ = UINT64_MAX;
};

}  // namespace anabranch
