#include "runtime/timeline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "ir/error.h"

namespace anabranch::timeline {
namespace internal {
std::atomic<bool> on{false};
}
namespace {

constexpr std::array<const char*, 8> category_names = {
    "kernel", "library", "copy", "wait", "host wait", "in-flight wait", "trace", "compile"};

struct Event {
  Track track;
  std::string name;
  Category category{};
  Clock::time_point begin, end;
  Details details;
};

// Each thread adds to a list of its own, so that recording disturbs what it records but little.
struct ThreadEvents {
  std::mutex mutex;
  std::uint32_t number = 0;
  std::vector<Event> events;
};

struct Recorder {
  std::mutex mutex;
  std::vector<std::shared_ptr<ThreadEvents>> threads;
  Clock::time_point begin;
};

Recorder& recorder() {
  static Recorder* recorder = new Recorder;
  return *recorder;
}

ThreadEvents& this_thread() {
  thread_local const std::shared_ptr<ThreadEvents> mine = [] {
    auto made = std::make_shared<ThreadEvents>();
    std::lock_guard lock(recorder().mutex);
    made->number = static_cast<std::uint32_t>(recorder().threads.size());
    recorder().threads.push_back(made);
    return made;
  }();
  return *mine;
}

// Process 1 is the host, 2 the worker threads, then one per device.
int process_of(const Track& track) {
  switch (track.kind) {
    case Track::Kind::host:
      return 1;
    case Track::Kind::worker:
      return 2;
    case Track::Kind::stream:
      return 3 + static_cast<int>(track.device.kind()) * 64 + track.device.index();
  }
  return 0;
}

std::string process_name(const Track& track) {
  switch (track.kind) {
    case Track::Kind::host:
      return "host";
    case Track::Kind::worker:
      return "cpu workers";
    case Track::Kind::stream:
      return to_string(track.device);
  }
  return {};
}

std::string thread_name(const Track& track) {
  constexpr std::array<const char*, 3> names = {"thread", "worker", "stream"};
  return fmt::format("{} {}", names[static_cast<std::size_t>(track.kind)], track.index);
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

nlohmann::json to_json(const Event& event, Clock::time_point origin) {
  nlohmann::json args = nlohmann::json::object();
  if (event.details.bytes) args["bytes"] = event.details.bytes;
  if (event.details.operations) args["operations"] = event.details.operations;
  if (event.details.location) args["source"] = to_string(event.details.location);
  return {{"ph", "X"},
          {"name", event.name},
          {"cat", category_names[static_cast<std::size_t>(event.category)]},
          {"pid", process_of(event.track)},
          {"tid", event.track.index},
          {"ts", microseconds(event.begin - origin)},
          {"dur", microseconds(event.end - event.begin)},
          {"args", std::move(args)}};
}

nlohmann::json name_record(const char* what, int process, std::uint32_t thread,
                           const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

std::vector<Event> take_events() {
  std::vector<Event> events;
  std::lock_guard lock(recorder().mutex);
  for (const std::shared_ptr<ThreadEvents>& thread : recorder().threads) {
    std::lock_guard thread_lock(thread->mutex);
    events.insert(events.end(), std::make_move_iterator(thread->events.begin()),
                  std::make_move_iterator(thread->events.end()));
    thread->events.clear();
  }
  return events;
}

void write_whole(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.tmp", getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file << text;
    if (!file.flush()) {
      throw Error(
          fmt::format("timeline: cannot write {}; choose a folder that exists and may be "
                      "written to",
                      temporary.string()));
    }
  }
  std::error_code failure;
  std::filesystem::rename(temporary, path, failure);
  if (failure) {
    throw Error(fmt::format("timeline: cannot write {}: {}", path.string(), failure.message()));
  }
}

}  // namespace

void start() {
  take_events();
  {
    std::lock_guard lock(recorder().mutex);
    recorder().begin = Clock::now();
  }
  internal::on.store(true, std::memory_order_relaxed);
}

void stop(const std::filesystem::path& path) {
  internal::on.store(false, std::memory_order_relaxed);
  const std::vector<Event> events = take_events();
  Clock::time_point origin;
  {
    std::lock_guard lock(recorder().mutex);
    origin = recorder().begin;
  }
  nlohmann::json list = nlohmann::json::array();
  std::map<std::pair<int, std::uint32_t>, Track> tracks;
  for (const Event& event : events) {
    tracks.try_emplace({process_of(event.track), event.track.index}, event.track);
  }
  for (const auto& [place, track] : tracks) {
    list.push_back(name_record("process_name", place.first, 0, process_name(track)));
    list.push_back(name_record("thread_name", place.first, place.second, thread_name(track)));
  }
  for (const Event& event : events) list.push_back(to_json(event, origin));
  write_whole(path,
              nlohmann::json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(list)}}.dump());
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
    // Out of memory: the event is lost, the program goes on.
  }
}

Recording::~Recording() {
  try {
    stop(path_);
  } catch (...) {
    // A destructor cannot say so; `stop` does.
  }
}

}  // namespace anabranch::timeline
