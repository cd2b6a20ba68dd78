#include "runtime/memory/allocator.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "anabranch/error.h"
#include "runtime/fork.h"
#include "runtime/memory/alignment.h"
#include "runtime/memory/host_memory.h"

namespace anabranch {
namespace {

constexpr std::size_t alignment = memory_alignment;
constexpr std::size_t large_bytes = std::size_t{2} << 20;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t large_step = std::size_t{64} << 10;

std::size_t round_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

// Sizes up to 512 bytes by 64; above, eight to the octave.
std::size_t class_bytes(std::size_t bytes) {
  if (bytes <= 512) return round_up(std::max<std::size_t>(bytes, 1), alignment);
  return round_up(bytes, std::bit_floor(bytes - 1) / 8);
}

int class_index(std::size_t bytes) {
  if (bytes <= 512) return static_cast<int>(bytes / alignment);
  const int octave = std::bit_width(bytes - 1) - 1;
  return 9 + (octave - 9) * 8 + static_cast<int>((bytes - 1) >> (octave - 3)) - 8;
}

// Mapped at a huge page's boundary, so that every whole huge page inside can be one.
void* map_large(std::size_t bytes) {
  void* mapped = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = round_up(begin, huge_page);
  if (aligned != begin) munmap(mapped, aligned - begin);
  const std::size_t tail = begin + huge_page - aligned;
  if (tail) munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  void* data = reinterpret_cast<void*>(aligned);
  madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

}  // namespace

Allocation Allocator::allocate(std::size_t bytes) {
  check_no_orphan("allocate");
  std::lock_guard lock(mutex_);
  if (until_failure_ != UINT64_MAX && until_failure_-- == 0) {
    until_failure_ = UINT64_MAX;
    throw_full(bytes);
  }
  if (bytes > SIZE_MAX / 4) throw_full(bytes);
  if (device_.kind() == DeviceKind::cpu && bytes > left_on_host()) throw_full(bytes);
  const std::size_t size = bytes < large_bytes ? class_bytes(bytes) : round_up(bytes, large_step);
  const Allocation block = size < large_bytes ? allocate_small(size) : allocate_large(size);
  if (!block.data) throw_full(bytes);
  take_into_use(block.bytes);
  return block;
}

Allocation Allocator::allocate_small(std::size_t bytes) {
  std::vector<void*>& cached = small_[static_cast<std::size_t>(class_index(bytes))];
  if (!cached.empty()) {
    if (stream_executor_) std::iter_swap(std::ranges::min_element(cached), cached.end() - 1);
    void* data = cached.back();
    cached.pop_back();
    use_.cached -= bytes;
    return {data, bytes};
  }
  return {fresh(bytes), bytes};
}

Allocation Allocator::allocate_large(std::size_t bytes) {
  const auto is_better = [&](const Allocation& a, const Allocation& b) {
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    return !stream_executor_ || a.data < b.data;
  };
  auto best = large_.end();
  for (auto it = large_.begin(); it != large_.end(); ++it) {
    if (it->block.bytes < bytes || it->block.bytes > bytes + bytes / 4) continue;
    if (best == large_.end() || is_better(it->block, best->block)) best = it;
  }
  if (best != large_.end()) {
    Allocation block = best->block;
    *best = large_.back();
    large_.pop_back();
    use_.cached -= block.bytes;
    return block;
  }
  const std::size_t needed = use_.in_use + bytes;
  const std::size_t highest = std::max(highest_, needed);
  const std::size_t hold = std::min(limit_, highest + highest / 4);
  while (!large_.empty() && needed + use_.cached > hold) release_oldest_large();
  return {fresh(bytes), bytes};
}

void* Allocator::fresh(std::size_t bytes) {
  if (bytes > limit_ - std::min(limit_, use_.in_use)) return nullptr;
  if (bytes > limit_ - std::min(limit_, use_.in_use + use_.cached)) release_cached_locked();
  const auto ask = [&] {
    if (stream_executor_) return stream_executor_->allocate(bytes);
    return bytes < large_bytes ? std::aligned_alloc(alignment, bytes) : map_large(bytes);
  };
  if (void* data = ask()) return data;
  release_cached_locked();
  if (stream_executor_) stream_executor_->release_cached();
  return ask();
}

void Allocator::give_back(Allocation block) noexcept {
  if (stream_executor_) {
    try {
      stream_executor_->free(block.data);
    } catch (...) {
      // The device has failed, and its memory is lost with it.
    }
  } else if (block.bytes < large_bytes) {
    std::free(block.data);
  } else {
    munmap(block.data, block.bytes);
  }
}

void Allocator::free(Allocation block) noexcept {
  if (!block.data || is_orphan()) return;
  std::lock_guard lock(mutex_);
  use_.in_use -= block.bytes;
  if (!keeps_) return give_back(block);
  try {
    if (block.bytes >= large_bytes) {
      large_.push_back({block, ++frees_});
    } else {
      small_[static_cast<std::size_t>(class_index(block.bytes))].push_back(block.data);
    }
    use_.cached += block.bytes;
  } catch (...) {  // no memory even for the list
    give_back(block);
  }
}

void Allocator::take_into_use(std::size_t bytes) {
  use_.in_use += bytes;
  use_.peak = std::max(use_.peak, use_.in_use);
  highest_ = std::max(highest_, use_.in_use);
}

void Allocator::release_oldest_large() {
  auto oldest = std::min_element(large_.begin(), large_.end(), [](const auto& a, const auto& b) {
    return a.freed_at < b.freed_at;
  });
  give_back(oldest->block);
  use_.cached -= oldest->block.bytes;
  *oldest = large_.back();
  large_.pop_back();
}

void Allocator::release_cached_locked() {
  while (!large_.empty()) release_oldest_large();
  for (std::vector<void*>& list : small_) {
    for (void* data : list) give_back({data, 0});  // of whichever class
    list.clear();
  }
  use_.cached = 0;
}

std::size_t Allocator::left_on_host() const {
  return host_memory() - std::min(host_memory(), use_.in_use);
}

void Allocator::throw_full(std::size_t bytes) const {
  std::string limit = limit_ == SIZE_MAX ? "" : fmt::format(", limit {}", limit_);
  if (!stream_executor_ && bytes > left_on_host()) {
    limit += fmt::format(", and {} are all that this process may have", host_memory());
  }
  throw Error(
      fmt::format("allocate: {} is out of memory: {} bytes asked for, {} in use{}; let go of "
                  "arrays that are no longer needed",
                  to_string(device_), bytes, use_.in_use, limit));
}

MemoryUse Allocator::use() const {
  std::lock_guard lock(mutex_);
  MemoryUse use = use_;
  if (stream_executor_) use.cached += stream_executor_->cached();
  return use;
}

void Allocator::reset_peak() {
  std::lock_guard lock(mutex_);
  use_.peak = use_.in_use;
}

void Allocator::release_cached() {
  std::lock_guard lock(mutex_);
  release_cached_locked();
  if (stream_executor_) stream_executor_->release_cached();
}

void Allocator::set_limit(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
}

void Allocator::fail_after(std::uint64_t allocations) {
  std::lock_guard lock(mutex_);
  until_failure_ = allocations;
}

}  // namespace anabranch
