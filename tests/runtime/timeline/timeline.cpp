#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "anabranch/error.h"
#include "anabranch/limits.h"
#include "runtime/executor/run.h"
#include "runtime/timeline/record.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using nlohmann::json;
using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;

std::filesystem::path scratch_file(const char* name) {
  return std::filesystem::path(::testing::TempDir()) / name;
}

json read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return json::parse(file);
}

/// Events by "process/thread/category", the names that a viewer shows.
std::map<std::string, std::vector<json>> by_track(const json& trace) {
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  std::map<std::string, std::vector<json>> events;
  for (const json& event : trace.at("traceEvents")) {
    const int pid = event.at("pid"), tid = event.at("tid");
    if (event.at("name") == "process_name") {
      processes[pid] = event.at("args").at("name");
    } else if (event.at("name") == "thread_name") {
      threads[{pid, tid}] = event.at("args").at("name");
    } else {
      const std::string category = event.at("cat");
      events[processes.at(pid) + "/" + threads.at({pid, tid}) + "/" + category].push_back(event);
    }
  }
  return events;
}

TEST(Timeline, ShowsStepsOnStreamsAndWorkersWithTheirCosts) {
  const auto path = scratch_file("timeline.json");
  FakeProgram program(64);
  const SlotId in = program.input(), a = program.temporary(), b = program.temporary();
  Step& first = program.step({in}, a, 1e6);
  first.name = "first \"quoted\"";
  const std::string name = "net/first \"quoted\" (model.cpp:12)";
  first.cost = {512, 256, 64};
  first.location = SourceLocation("folder/model.cpp", 12);
  first.location.scope = "net";
  program.step({in}, b, 1e6);
  program.step({a, b}, program.output(), 1e6);
  Options options;
  options.device = Device::cpu();
  options.use_all_streams = true;
  auto executable = program.executable(options);
  {
    timeline::Recording recording(path);
    EXPECT_TRUE(timeline::recording());
    timeline::Span span("my span", timeline::Category::compile);
    run(executable, {buffer_of(Device::cpu(), counting(64))})[0].ready().wait();
    wait_for_devices();
  }
  EXPECT_FALSE(timeline::recording());
  auto tracks = by_track(read(path));
  EXPECT_EQ(tracks["cpu:0/stream 0/kernel"].size() + tracks["cpu:0/stream 1/kernel"].size(), 3u);
  EXPECT_EQ(tracks["cpu:0/stream 0/wait"].size() + tracks["cpu:0/stream 1/wait"].size(), 1u);
  std::size_t on_workers = 0;
  std::vector<json> named;
  for (const auto& [track, events] : tracks) {
    if (track.starts_with("cpu workers/")) on_workers += events.size();
    for (const json& event : events) {
      EXPECT_GE(event.at("ts"), 0.0);
      if (track.ends_with("/event")) continue;  // an arrow's end
      EXPECT_GE(event.at("dur"), 0.0);
      if (event.at("name") == name && track.starts_with("cpu:0")) named.push_back(event);
    }
  }
  EXPECT_EQ(on_workers, 3u);
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].at("args"),
            (json{{"bytes", 768}, {"operations", 64}, {"source", "model.cpp:12 in net"}}));
}

// Perfetto binds an arrow's ends to the slices that they lie in.
TEST(Timeline, ArrowsLeadFromARecordToTheWait) {
  const auto path = scratch_file("arrows.json");
  FakeProgram program(64);
  const SlotId in = program.input(), a = program.temporary(), b = program.temporary();
  program.step({in}, a, 1e6);
  program.step({in}, b, 1e6);
  program.step({a, b}, program.output(), 1e6);
  Options options;
  options.device = Device::cpu();
  options.use_all_streams = true;
  auto executable = program.executable(options);
  {
    timeline::Recording recording(path);
    for (int i = 0; i < 3; ++i) run(executable, {buffer_of(Device::cpu(), counting(64))});
    wait_for_devices();
  }
  const json trace = read(path);
  const auto lies_in_a = [&](const json& end, const char* category) {
    for (const json& event : trace.at("traceEvents")) {
      if (event.at("ph") != "X" || event.at("cat") != category) continue;
      const double begin = event.at("ts"), duration = event.at("dur"), at = end.at("ts");
      if (event.at("pid") == end.at("pid") && event.at("tid") == end.at("tid") && begin <= at &&
          at <= begin + duration) {
        return true;
      }
    }
    return false;
  };
  std::map<std::uint64_t, std::pair<int, int>> ends;  // tails and heads by arrow
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "s") {
      ++ends[event.at("id")].first;
      EXPECT_TRUE(lies_in_a(event, "record")) << event;
    } else if (event.at("ph") == "f") {
      ++ends[event.at("id")].second;
      EXPECT_EQ(event.at("bp"), "e");
      EXPECT_TRUE(lies_in_a(event, "wait")) << event;
    }
  }
  EXPECT_EQ(ends.size(), 3u);
  for (const auto& [arrow, count] : ends) EXPECT_EQ(count, std::pair(1, 1)) << arrow;
}

TEST(Timeline, RecordsNothingWhenOffAndSeveralTimesAtOnce) {
  const auto path = scratch_file("off.json");
  { timeline::Span span("before", timeline::Category::trace); }
  timeline::Recording whole;
  { timeline::Span span("early", timeline::Category::trace); }
  {
    timeline::Recording part(path);
    { timeline::Span span("kept", timeline::Category::trace); }
  }
  { timeline::Span span("late", timeline::Category::trace); }
  EXPECT_EQ(whole.stop().events.size(), 3u);
  EXPECT_TRUE(whole.stop().events.empty());
  EXPECT_FALSE(timeline::recording());
  { timeline::Span span("after", timeline::Category::trace); }
  std::vector<std::string> names;
  for (const auto& [track, events] : by_track(read(path))) {
    for (const json& event : events) names.push_back(event.at("name"));
  }
  EXPECT_EQ(names, std::vector<std::string>{"kept"});
}

TEST(Timeline, WaitsOfTheHostAreShown) {
  const auto path = scratch_file("host.json");
  FakeProgram program(1);
  program.step({program.input()}, program.output());
  program.last_task().function = [](const void*, void* const*, std::int64_t, std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  auto executable = program.in_order();
  Buffer in = buffer_of(Device::cpu(), {1});
  const int limit = in_flight_limit(Device::cpu());
  set_in_flight_limit(Device::cpu(), 1);
  timeline::Recording recording(path);
  run(executable, {in});
  run(executable, {in})[0].ready().wait(SourceLocation("main.cpp", 7));
  recording.stop();
  set_in_flight_limit(Device::cpu(), limit);
  int waits = 0, limits = 0;
  for (const auto& [track, events] : by_track(read(path))) {
    if (!track.starts_with("host/")) continue;
    if (track.ends_with("/host wait")) {
      ++waits;
      EXPECT_EQ(events[0].at("name"), "wait (main.cpp:7)");
    }
    limits += track.ends_with("/in-flight wait");
  }
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(limits, 1);
}

TEST(Timeline, NamesInOtherEncodingsAreReplaced) {
  timeline::Timeline recorded;
  timeline::Event event;
  event.name = "caf\xe9";
  event.details.location = {"\xff\xfe.cpp", 3};
  event.details.location.scope = "\xc3";
  recorded.events.push_back(event);
  const std::string text = to_json(recorded);
  EXPECT_NE(text.find("caf\xef\xbf\xbd"), std::string::npos) << text;
}

TEST(Timeline, AFileThatCannotBeWrittenIsAnError) {
  timeline::Recording recording("/nowhere/at/all.json");
  EXPECT_THROW(recording.stop(), Error);
  EXPECT_FALSE(timeline::recording());
}

}  // namespace
}  // namespace anabranch
