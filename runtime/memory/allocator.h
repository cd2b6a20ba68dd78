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
/// device works by itself, fresh memory comes from it, and the order of its main stream is the
/// order in which memory comes and goes: a block is reused at once, since what is enqueued there
/// next comes after all that used it, and the one at the lowest address first, so that equal runs
/// get equal addresses and are replayed. The host's are reused while they are in its caches: the
/// last one first. Thread-safe.
class Allocator {
 public:
  /// `stream_executor`: null for a device whose memory is the host's. Without `keeps` what is freed
  /// goes back to the system or the device at once, so that sanitizers see who touches it later.
  explicit Allocator(Device device, StreamExecutor* stream_executor = nullptr, bool keeps = true)
      : device_(device), stream_executor_(stream_executor), keeps_(keeps) {}
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

  // Each without data where the device is full.
  Allocation allocate_small(std::size_t bytes);
  Allocation allocate_large(std::size_t bytes);
  void* fresh(std::size_t bytes);
  void give_back(Allocation block) noexcept;
  void release_oldest_large();
  void release_cached_locked();
  void take_into_use(std::size_t bytes);
  std::size_t left_on_host() const;
  [[noreturn]] void throw_full(std::size_t bytes) const;

  const Device device_;
  StreamExecutor* const stream_executor_;
  const bool keeps_;
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
