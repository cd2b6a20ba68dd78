#include "codegen/schedule.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "codegen/chains.h"
#include "codegen/dependencies.h"
#include "codegen/memory_plan.h"

namespace anabranch {
namespace {

/// The stream of each launch.
using Assignment = std::vector<std::uint32_t>;

// Measured on a 2-core Zen 5: going on to the next step of a stream takes 60 ns; an event takes 0.5
// us where another worker is looking for work, and up to 10 us where one must be woken.
constexpr double step_ns = 60;
constexpr double event_ns = 2500;
// A prediction must promise at least this much before a second stream is worth it.
constexpr double least_gain = 0.05;
// Beyond this the dependency graph (a bit per pair of launches) grows past 32 MB.
constexpr std::size_t most_launches = 16384;

int parallelism(const Device& device, const Options& options) {
  if (device.kind() == DeviceKind::null) return std::max(1, options.streams);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Predicts how long an assignment takes on so many cores, in ns: launches start in the order of
/// the program, as soon as their stream, what they wait for and the cores that they can use are
/// free.
class Predictor {
 public:
  Predictor(const Program& program, const Dependencies& dependencies, int cores)
      : program_(program), dependencies_(dependencies), cores_(static_cast<std::size_t>(cores)) {}

  double operator()(const Assignment& stream_of, std::uint32_t streams) const {
    std::vector<double> core_free(cores_), stream_free(streams), done(program_.launches.size());
    for (std::uint32_t i = 0; i < program_.launches.size(); ++i) {
      double start = stream_free[stream_of[i]];
      for (std::uint32_t before : dependencies_.before(i)) {
        const double handed_over = stream_of[before] == stream_of[i] ? 0 : event_ns;
        start = std::max(start, done[before] + handed_over);
      }
      const Launch& launch = program_.launches[i];
      const std::size_t used = cores_used(launch);
      std::sort(core_free.begin(), core_free.end());
      start = std::max(start, core_free[used - 1]) + step_ns;
      done[i] = start + launch.predicted_ns / static_cast<double>(used);
      std::fill_n(core_free.begin(), used, done[i]);
      stream_free[stream_of[i]] = done[i];
    }
    return done.empty() ? 0 : *std::max_element(done.begin(), done.end());
  }

 private:
  std::size_t cores_used(const Launch& launch) const {
    const auto* task = std::get_if<HostTask>(&launch.task);
    if (!task) return 1;
    const std::int64_t ranges = task->extent / std::max<std::int64_t>(task->grain, 1);
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(ranges, 1)), 1,
                                   cores_);
  }

  const Program& program_;
  const Dependencies& dependencies_;
  std::size_t cores_;
};

// Chains to streams: one each where there are enough, else the longest first, each to the stream
// that has least to do.
Assignment assign(const std::vector<Chain>& chains, const Program& program, std::uint32_t streams) {
  std::vector<double> work(chains.size());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    for (std::uint32_t launch : chains[i]) work[i] += program.launches[launch].predicted_ns;
  }
  std::vector<std::size_t> longest_first(chains.size());
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  std::vector<std::pair<double, std::size_t>> load(streams);  // work, then number of launches
  Assignment stream_of(program.launches.size());
  for (std::size_t chain : longest_first) {
    const auto least = std::min_element(load.begin(), load.end());
    least->first += work[chain];
    least->second += chains[chain].size();
    for (std::uint32_t launch : chains[chain]) {
      stream_of[launch] = static_cast<std::uint32_t>(least - load.begin());
    }
  }
  return stream_of;
}

// Numbers the streams in the order in which the program first uses them; returns how many there
// are.
std::uint32_t renumber(Assignment& stream_of) {
  std::vector<std::optional<std::uint32_t>> number;
  std::uint32_t count = 0;
  for (std::uint32_t& stream : stream_of) {
    if (stream >= number.size()) number.resize(stream + 1);
    if (!number[stream]) number[stream] = count++;
    stream = *number[stream];
  }
  return count;
}

Assignment choose(const Program& program, const Dependencies& dependencies,
                  const Options& options) {
  const Assignment one(program.launches.size(), 0);
  const std::vector<Chain> chains = find_chains(dependencies);
  const auto most = static_cast<std::uint32_t>(
      std::min<std::size_t>(chains.size(), static_cast<std::size_t>(options.streams)));
  if (options.use_all_streams) return assign(chains, program, std::max(1u, most));
  const Predictor predict(program, dependencies, parallelism(options.device, options));
  Assignment best = one;
  double best_ns = predict(one, 1) * (1 - least_gain);
  for (std::uint32_t streams = 2; streams <= most; ++streams) {
    Assignment candidate = assign(chains, program, streams);
    const double ns = predict(candidate, streams);
    if (ns >= best_ns) continue;
    best_ns = ns;
    best = std::move(candidate);
  }
  return best;
}

/// What of each stream has happened before a launch, as the number of launches of it.
using Clock = std::vector<std::uint32_t>;

/// Lays the launches on their streams, with events where a dependency crosses and nothing implies
/// it.
class Layout {
 public:
  Layout(Program& program, const Dependencies& dependencies, const Assignment& stream_of,
         std::uint32_t streams)
      : program_(program),
        dependencies_(dependencies),
        stream_of_(stream_of),
        clocks_(program.launches.size()),
        ends_(program.launches.size()),
        event_of_(program.launches.size()),
        waits_(program.launches.size()),
        counts_(streams),
        latest_(streams, Clock(streams)) {}

  void build(Executable& executable) {
    for (std::uint32_t i = 0; i < program_.launches.size(); ++i) order(i);
    executable.streams.resize(counts_.size());
    for (std::uint32_t i = 0; i < program_.launches.size(); ++i) {
      std::vector<Step>& steps = executable.streams[stream_of_[i]];
      for (std::uint32_t before : waits_[i]) steps.push_back(Wait{*event_of_[before]});
      steps.push_back(std::move(program_.launches[i]));
      if (event_of_[i]) steps.push_back(Record{*event_of_[i]});
    }
    executable.event_count = event_count_;
  }

 private:
  void order(std::uint32_t i) {
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

  Program& program_;
  const Dependencies& dependencies_;
  const Assignment& stream_of_;
  std::vector<Clock> clocks_;
  Clock ends_;  // the place of each launch on its stream, from 1
  std::vector<std::optional<EventId>> event_of_;
  std::vector<std::vector<std::uint32_t>> waits_;
  Clock counts_;
  std::vector<Clock> latest_;  // of each stream
  EventId event_count_ = 0;
};

// The last launch to write an output finishes it.
void mark_finished_outputs(Program& program) {
  std::vector<Launch*> last_writer(program.slots.size());
  for (Launch& launch : program.launches) {
    launch.finishes.clear();
    for (SlotId id : launch.writes) last_writer[id] = &launch;
  }
  for (std::uint32_t i = 0; i < program.outputs.size(); ++i) {
    if (Launch* launch = last_writer[program.outputs[i]]) launch->finishes.push_back(i);
  }
}

}  // namespace

Executable schedule(Program program, const Options& options) {
  mark_finished_outputs(program);
  Executable executable;
  if (program.launches.size() > most_launches || options.streams <= 1) {
    executable.streams.emplace_back(std::make_move_iterator(program.launches.begin()),
                                    std::make_move_iterator(program.launches.end()));
  } else {
    const Dependencies dependencies(program);
    Assignment stream_of = choose(program, dependencies, options);
    const std::uint32_t streams = std::max(1u, renumber(stream_of));
    Layout(program, dependencies, stream_of, streams).build(executable);
  }
  executable.name = std::move(program.name);
  executable.device = options.device;
  executable.inputs = std::move(program.inputs);
  executable.slots = std::move(program.slots);
  executable.outputs = std::move(program.outputs);
  executable.constants = std::move(program.constants);
  plan_memory(executable);
  return executable;
}

}  // namespace anabranch
