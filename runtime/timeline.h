// Timeline: what ran where and when, for Perfetto and chrome://tracing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "ir/source_location.h"
#include "runtime/device.h"
#include "runtime/executable.h"

namespace anabranch::timeline {

enum class Category : std::uint8_t {
  kernel,
  library,
  copy,
  wait,
  host_wait,
  in_flight_wait,
  trace,
  compile
};

using Clock = std::chrono::steady_clock;

/// Where an event is drawn: a stream of a device, a worker thread, or the calling host thread.
struct Track {
  enum class Kind : std::uint8_t { host, worker, stream };
  Kind kind = Kind::host;
  Device device;            ///< of a stream
  std::uint32_t index = 0;  ///< of a stream or worker; a host thread finds its own
};

/// What may be known of an event besides its time.
struct Details {
  std::int64_t bytes = 0;
  std::int64_t operations = 0;
  SourceLocation location;
};

namespace internal {
extern std::atomic<bool> on;
}

/// Whether events are being recorded.
inline bool recording() { return internal::on.load(std::memory_order_relaxed); }

/// Forgets what was recorded and begins anew.
void start();
/// Ends recording and writes what was recorded as Chrome trace JSON; the file appears whole or not
/// at all. Throws Error if it cannot be written.
void stop(const std::filesystem::path& path);

/// How a launch is drawn.
inline Category category_of(const Launch& launch) {
  return launch.kind == Launch::Kind::kernel ? Category::kernel : Category::library;
}
inline Details details_of(const Launch& launch) {
  return {launch.cost.bytes_read + launch.cost.bytes_written, launch.cost.operations,
          launch.location};
}

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

/// Records while it lives, then writes the file; an error in writing is dropped.
class Recording {
 public:
  explicit Recording(std::filesystem::path path) : path_(std::move(path)) { start(); }
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  std::filesystem::path path_;
};

}  // namespace anabranch::timeline
