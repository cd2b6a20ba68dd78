// A timeline in the trace event format that Chrome and Perfetto read:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "anabranch/timeline.h"
#include "runtime/device/device.h"
#include "runtime/timeline/rows.h"

namespace anabranch::timeline {
namespace {

// Process 1 is the host, 2 the worker threads, then one per device.
int process_of(const Track& track) {
  switch (track.kind) {
    case Track::Kind::host:
      return 1;
    case Track::Kind::worker:
      return 2;
    case Track::Kind::stream:
    case Track::Kind::copies:
      return 3 + static_cast<int>(track.device.kind()) * max_devices + track.device.index();
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
    case Track::Kind::copies:
      return to_string(track.device);
  }
  return {};
}

std::string thread_name(const Track& track) {
  constexpr const char* names[] = {"thread", "worker", "stream", "copies"};
  return fmt::format("{} {}", names[static_cast<std::size_t>(track.kind)], track.index);
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

nlohmann::json on_track(const char* phase, const Track& track) {
  const bool copies = track.kind == Track::Kind::copies;  // below the streams of their device
  const std::uint32_t thread = copies ? timeline_rows + track.index : track.index;
  return {{"ph", phase}, {"pid", process_of(track)}, {"tid", thread}};
}

nlohmann::json slice(const Event& event, Clock::time_point origin) {
  nlohmann::json args = nlohmann::json::object();
  const Details& details = event.details;
  if (details.bytes) args["bytes"] = details.bytes;
  if (details.operations) args["operations"] = details.operations;
  if (details.location) args["source"] = to_string(details.location);
  nlohmann::json json = on_track("X", event.track);
  json["name"] = title(event);
  json["cat"] = to_string(event.category);
  json["ts"] = microseconds(event.begin - origin);
  json["dur"] = microseconds(event.end - event.begin);
  json["args"] = std::move(args);
  return json;
}

// An arrow leaves the record's slice and enters the wait's, just before that ends.
nlohmann::json arrow(const Event& event, Clock::time_point origin) {
  const bool leaves = event.category == Category::record;
  const auto inside = std::max(event.begin, event.end - std::chrono::nanoseconds(1));
  nlohmann::json json = on_track(leaves ? "s" : "f", event.track);
  json["name"] = "event";
  json["cat"] = "event";
  json["id"] = event.details.arrow;
  json["ts"] = microseconds((leaves ? event.begin : inside) - origin);
  if (!leaves) json["bp"] = "e";
  return json;
}

nlohmann::json name_record(const char* what, const Track& track, const std::string& name) {
  nlohmann::json json = on_track("M", track);
  json["name"] = what;
  json["args"] = {{"name", name}};
  return json;
}

}  // namespace

const char* to_string(Category category) {
  constexpr const char* names[] = {"kernel",    "library",        "loop",  "branch",
                                   "range",     "copy",           "wait",  "record",
                                   "host wait", "in-flight wait", "trace", "compile"};
  return names[static_cast<std::size_t>(category)];
}

std::string to_string(const Track& track) {
  return (track.kind == Track::Kind::worker ? "" : process_name(track) + " ") + thread_name(track);
}

std::string title(const Event& event) {
  SourceLocation line = event.details.location;
  std::string text = line.scope ? std::string(line.scope) + "/" + event.name : event.name;
  line.scope = nullptr;
  return line ? text + " (" + to_string(line) + ")" : text;
}

std::string to_json(const Timeline& timeline) {
  nlohmann::json list = nlohmann::json::array();
  std::set<Track> named;
  for (const Event& event : timeline.events) {
    if (!named.insert(event.track).second) continue;
    list.push_back(name_record("process_name", event.track, process_name(event.track)));
    list.push_back(name_record("thread_name", event.track, thread_name(event.track)));
  }
  for (const Event& event : timeline.events) {
    list.push_back(slice(event, timeline.begin));
    if (event.details.arrow) list.push_back(arrow(event, timeline.begin));
  }
  // Names are the user's, and may be in any encoding; JSON is UTF-8.
  return nlohmann::json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(list)}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace anabranch::timeline
