#include "ir/log.h"

#include <memory>
#include <mutex>
#include <utility>

namespace anabranch {
namespace {

struct Log {
  std::recursive_mutex mutex;  // the sink may set another one, and what it calls may log
  std::shared_ptr<const LogSink> sink;
  bool is_running = false;  // the sink, in the thread that holds the mutex
};

// Never destroyed: what happens while the process ends may be worth a line too.
Log& process_log() {
  static Log& log = *new Log;
  return log;
}

void run(const LogSink& sink, const std::string& line) {
  try {
    sink(line);
  } catch (...) {
    // Nothing is left to report to.
  }
}

}  // namespace

void set_log(LogSink sink) {
  std::shared_ptr<const LogSink> other;  // of two, the one that is destroyed without the lock
  if (sink) other = std::make_shared<const LogSink>(std::move(sink));
  Log& log = process_log();
  std::lock_guard lock(log.mutex);
  log.sink.swap(other);
}

void log_line(const std::string& line) noexcept {
  try {
    Log& log = process_log();
    std::lock_guard lock(log.mutex);
    if (!log.sink || log.is_running) return;
    const std::shared_ptr<const LogSink> sink = log.sink;  // which may set another one
    log.is_running = true;
    run(*sink, line);
    log.is_running = false;
  } catch (...) {
    // Nothing is left to report to.
  }
}

}  // namespace anabranch
