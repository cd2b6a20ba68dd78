// TimelineRows: which rows of a device's timeline are taken, so that what overlaps is drawn apart.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

namespace anabranch {

inline constexpr std::uint32_t timeline_rows = 64;

/// Thread-safe. Beyond the last row all share it.
class TimelineRows {
 public:
  /// `wanted` where it is free, else the first that is.
  std::uint32_t take(std::uint32_t wanted) {
    std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    std::uint32_t row;
    do {
      const bool is_free = wanted < timeline_rows && (taken >> wanted & 1) == 0;
      row = is_free
                ? wanted
                : std::min(timeline_rows - 1, static_cast<std::uint32_t>(std::countr_one(taken)));
    } while (!taken_.compare_exchange_weak(taken, taken | std::uint64_t{1} << row));
    return row;
  }
  void give_back(std::uint32_t row) { taken_.fetch_and(~(std::uint64_t{1} << row)); }

 private:
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace anabranch
