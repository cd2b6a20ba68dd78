#include <algorithm>
#include <memory>
#include <mutex>
#include <ostream>
#include <utility>

#include "ir/write_file.h"
#include "runtime/timeline/record.h"

namespace anabranch::timeline {
namespace internal {
std::atomic<bool> on{false};
}
namespace {

// Each thread adds to a list of its own, so that recording disturbs what it records but little.
struct ThreadEvents {
  std::mutex mutex;
  std::uint32_t number = 0;
  std::vector<Event> events;
};

struct Recorder {
  std::mutex mutex;
  std::vector<std::shared_ptr<ThreadEvents>> threads;
  std::uint32_t next_number = 0;
  int recordings = 0;
};

Recorder& recorder() {
  static Recorder* recorder = new Recorder;
  return *recorder;
}

ThreadEvents& this_thread() {
  thread_local const std::shared_ptr<ThreadEvents> mine = [] {
    auto made = std::make_shared<ThreadEvents>();
    std::lock_guard lock(recorder().mutex);
    made->number = recorder().next_number++;
    recorder().threads.push_back(made);
    return made;
  }();
  return *mine;
}

// What began since; kept while others record, too.
std::vector<Event> end_recording(Clock::time_point begin) {
  std::vector<Event> events;
  std::lock_guard lock(recorder().mutex);
  const bool last = --recorder().recordings == 0;
  if (last) internal::on.store(false, std::memory_order_relaxed);
  for (const std::shared_ptr<ThreadEvents>& thread : recorder().threads) {
    std::lock_guard thread_lock(thread->mutex);
    for (const Event& event : thread->events) {
      if (event.begin >= begin) events.push_back(event);
    }
    if (last) thread->events.clear();
  }
  if (last) std::erase_if(recorder().threads, [](const auto& t) { return t.use_count() == 1; });
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.begin < b.begin; });
  return events;
}

}  // namespace

std::uint64_t take_arrows(std::size_t count) {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(count, std::memory_order_relaxed);
}

void add(const Track& track, std::string_view name, Category category, Clock::time_point begin,
         Clock::time_point end, const Details& details) {
  if (!recording()) return;
  ThreadEvents& mine = this_thread();
  std::lock_guard lock(mine.mutex);
  Event& event =
      mine.events.emplace_back(Event{track, std::string(name), category, begin, end, details});
  if (track.kind == Track::Kind::host) event.track.index = mine.number;
}

void Span::begin(std::string_view name, Category category, const Track& track,
                 const Details& details) {
  begun_ = true;
  name_ = name;
  category_ = category;
  track_ = track;
  details_ = details;
  begin_ = Clock::now();
}

void Span::end() noexcept {
  try {
    add(track_, name_, category_, begin_, Clock::now(), details_);
  } catch (...) {
    // Out of memory: the event is lost, the program continues.
  }
}

Recording::Recording(std::string path) : path_(std::move(path)), begin_(Clock::now()) {
  std::lock_guard lock(recorder().mutex);
  ++recorder().recordings;
  internal::on.store(true, std::memory_order_relaxed);
}

Timeline Recording::stop() {
  if (!std::exchange(recording_, false)) return {begin_, {}};
  Timeline timeline{begin_, end_recording(begin_)};
  if (!path_.empty()) {
    write_file(path_, [&](std::ostream& file) { file << to_json(timeline); });
  }
  return timeline;
}

Recording::~Recording() {
  try {
    stop();
  } catch (...) {
    // A destructor cannot say so; `stop` does.
  }
}

}  // namespace anabranch::timeline
