// Adding to the timeline.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "anabranch/timeline.h"

namespace anabranch::timeline {

namespace internal {
extern std::atomic<bool> on;
}

/// Whether events are being recorded.
inline bool recording() { return internal::on.load(std::memory_order_relaxed); }

/// The first of `count` numbers for arrows.
std::uint64_t take_arrows(std::size_t count);

/// Adds an event; does nothing unless recording.
void add(const Track& track, std::string_view name, Category category, Clock::time_point begin,
         Clock::time_point end, const Details& details = {});

/// Records its own lifetime as one event. Costs one load when nothing is recorded.
class Span {
 public:
  explicit Span(std::string_view name, Category category, const Track& track = {},
                const Details& details = {}) {
    if (recording()) [[unlikely]]
      begin(name, category, track, details);
  }
  ~Span() {
    if (begun_) [[unlikely]]
      end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void begin(std::string_view name, Category category, const Track& track, const Details& details);
  void end() noexcept;

  bool begun_ = false;
  Category category_{};
  Track track_;
  Details details_;
  std::string name_;
  Clock::time_point begin_;
};

}  // namespace anabranch::timeline
