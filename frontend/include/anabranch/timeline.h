// Timeline: what ran where and when, as data and for Perfetto and chrome://tracing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "anabranch/device.h"
#include "anabranch/export.h"
#include "anabranch/source_location.h"

namespace ANABRANCH_API anabranch {
namespace timeline {

enum class Category : std::uint8_t {
  kernel,
  library,
  loop,    ///< of steps that are drawn themselves
  branch,  ///< the same
  range,   ///< what one thread does of a kernel or a library call
  copy,
  wait,            ///< of a stream for another
  record,          ///< of an event that other streams wait for
  host_wait,       ///< of a thread of the program for a result
  in_flight_wait,  ///< of a thread of the program for room to submit more
  trace,
  compile
};
/// "kernel", "host wait".
const char* to_string(Category category);

using Clock = std::chrono::steady_clock;

/// Where an event is drawn: a stream of a device, its copies from and to the host, a worker thread,
/// or the calling host thread.
struct Track {
  enum class Kind : std::uint8_t { host, worker, stream, copies };
  Kind kind = Kind::host;
  Device device;            ///< of a stream or of copies
  std::uint32_t index = 0;  ///< among those of a kind; a host thread finds its own

  auto operator<=>(const Track&) const = default;
};
/// "cpu:0 stream 1", "cpu:0 copies 0", "worker 0", "host thread 0".
std::string to_string(const Track& track);

/// What may be known of an event besides its time.
struct Details {
  std::int64_t bytes = 0;        ///< read and written, or copied
  std::int64_t operations = 0;   ///< arithmetic
  SourceLocation location = {};  ///< the user's line that it comes from
  std::uint64_t arrow = 0;       ///< leads from the record to the waits with the same number
  bool is_f64 = false;           ///< whether f64 or c128 are among what it touches
};

struct Event {
  Track track;
  std::string name;
  Category category{};
  Clock::time_point begin, end;
  Details details;
};
/// As it is drawn: "encoder/layer1/kernel5 (model.cpp:12)".
std::string title(const Event& event);

/// What a recording saw, by the beginning of the events.
struct Timeline {
  Clock::time_point begin;
  std::vector<Event> events;
};
/// In Chrome's trace event format; arrows show which stream waited for which.
std::string to_json(const Timeline& timeline);

/// Records from its making until `stop`, or while it lives; several may at once. What is still in
/// flight at the end is left out: `wait_all()` first.
class Recording {
 public:
  Recording() : Recording(std::string()) {}
  /// `path` is written at the end, as JSON; in the destructor an error in writing is dropped.
  explicit Recording(std::string path);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// What was recorded; the second call gives nothing. The file appears whole or not at all; throws
  /// Error if it cannot be written.
  Timeline stop();

 private:
  std::string path_;
  Clock::time_point begin_;
  bool recording_ = true;
};

}  // namespace timeline
}  // namespace anabranch
