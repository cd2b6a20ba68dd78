#include "codegen/schedule/stream_layout.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace anabranch {
namespace {

/// What of each stream has happened before a step, as the number of steps of it.
using Clock = std::vector<std::uint32_t>;

// Returns how many streams there are.
std::uint32_t renumber(Assignment& stream_of, std::span<const StepId> order) {
  std::vector<std::optional<std::uint32_t>> number;
  std::uint32_t count = 0;
  for (StepId step : order) {
    std::uint32_t& stream = stream_of[step];
    if (stream >= number.size()) number.resize(stream + 1);
    if (!number[stream]) number[stream] = count++;
    stream = *number[stream];
  }
  return count;
}

class Layout {
 public:
  Layout(const Program& program, const Dependencies& dependencies, const Assignment& stream_of,
         std::uint32_t streams)
      : program_(program),
        dependencies_(dependencies),
        stream_of_(stream_of),
        clocks_(program.steps.size()),
        ends_(program.steps.size()),
        event_of_(program.steps.size()),
        waits_(program.steps.size()),
        counts_(streams),
        latest_(streams, Clock(streams)) {}

  StreamLayout build(std::span<const StepId> order) {
    for (StepId i : order) find_waits(i);
    StreamLayout layout;
    layout.streams.resize(counts_.size());
    for (StepId i : order) {
      std::vector<Command>& commands = layout.streams[stream_of_[i]].commands;
      for (std::uint32_t before : waits_[i]) commands.push_back(Wait{*event_of_[before]});
      commands.push_back(Launch{i});
      if (event_of_[i]) commands.push_back(Record{*event_of_[i]});
    }
    layout.event_count = event_count_;
    return layout;
  }

 private:
  void find_waits(StepId i) {
    Clock& clock = latest_[stream_of_[i]];
    // The latest first: it may imply the others.
    for (std::uint32_t before : dependencies_.before(i)) {
      if (clock[stream_of_[before]] >= ends_[before]) continue;
      if (!event_of_[before]) event_of_[before] = event_count_++;
      waits_[i].push_back(before);
      for (std::size_t s = 0; s < clock.size(); ++s) {
        clock[s] = std::max(clock[s], clocks_[before][s]);
      }
    }
    ends_[i] = ++counts_[stream_of_[i]];
    clock[stream_of_[i]] = ends_[i];
    clocks_[i] = clock;
  }

  const Program& program_;
  const Dependencies& dependencies_;
  const Assignment& stream_of_;
  std::vector<Clock> clocks_;
  Clock ends_;  // the place of each step on its stream, from 1
  std::vector<std::optional<EventId>> event_of_;
  std::vector<std::vector<std::uint32_t>> waits_;
  Clock counts_;
  std::vector<Clock> latest_;  // of each stream
  EventId event_count_ = 0;
};

}  // namespace

StreamLayout lay_out(const Program& program, const Dependencies& dependencies, Assignment stream_of,
                     std::span<const StepId> order) {
  const std::uint32_t streams = renumber(stream_of, order);
  return Layout(program, dependencies, stream_of, streams).build(order);
}

}  // namespace anabranch
