#include "ir/log.h"

#include <mutex>

namespace anabranch {
namespace {

struct Log {
  std::mutex mutex;
  LogSink sink;
};

// Never destroyed: what happens while the process ends may be worth a line too.
Log& process_log() {
  static Log& log = *new Log;
  return log;
}

}  // namespace

void set_log(LogSink sink) {
  std::lock_guard lock(process_log().mutex);
  process_log().sink = std::move(sink);
}

void log_line(const std::string& line) noexcept {
  try {
    std::lock_guard lock(process_log().mutex);
    if (process_log().sink) process_log().sink(line);
  } catch (...) {
    // Nothing is left to report to.
  }
}

}  // namespace anabranch
