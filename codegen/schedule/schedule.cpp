#include "codegen/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "codegen/memory/memory_plan.h"
#include "codegen/schedule/chains.h"
#include "codegen/schedule/dependencies.h"
#include "codegen/schedule/device_model.h"
#include "codegen/schedule/frugal_order.h"
#include "codegen/schedule/predict.h"
#include "codegen/schedule/stream_layout.h"
#include "ir/error.h"
#include "runtime/executor/launch_times.h"
#include "runtime/executor/replays.h"

namespace anabranch {
namespace {

// A prediction must promise at least this much before a second stream is worth it.
constexpr double least_gain = 0.05;
// Beyond this the dependency graph (a bit per pair of launches) grows past 32 MB.
constexpr std::size_t most_launches = 16384;

// By device of the program.
std::vector<DeviceModel> models(const Program& program, const Options& options) {
  std::vector<DeviceModel> result = {model_of(options.device, options)};
  for (const Device& device : program.further) result.push_back(model_of(device, options));
  return result;
}

/// What a stream is for: it holds launches of one device and one kind.
using StreamPlace = std::pair<DeviceIndex, Stream::Kind>;

StreamPlace place_of(const Program& program, const Launch& launch) {
  const bool copies = launch.kind == Launch::Kind::copy;
  return {device_of(program, launch), copies ? Stream::Kind::copy : Stream::Kind::compute};
}

// The chains, cut where they go from one place to another.
std::map<StreamPlace, std::vector<Chain>> by_place(const std::vector<Chain>& chains,
                                                   const Program& program) {
  std::map<StreamPlace, std::vector<Chain>> result;
  for (const Chain& chain : chains) {
    std::map<StreamPlace, Chain> parts;
    for (std::uint32_t i : chain) parts[place_of(program, program.launches[i])].push_back(i);
    for (auto& [place, part] : parts) result[place].push_back(std::move(part));
  }
  return result;
}

// Chains to streams, from number `first`: one each where there are enough, else the longest first,
// each to the stream that has least to do.
void assign(const std::vector<Chain>& chains, const Program& program, std::uint32_t first,
            std::uint32_t streams, Assignment& stream_of) {
  std::vector<double> work(chains.size());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    for (std::uint32_t launch : chains[i]) work[i] += program.launches[launch].predicted_ns;
  }
  std::vector<std::size_t> longest_first(chains.size());
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  std::vector<std::pair<double, std::size_t>> load(streams);  // work, then number of launches
  for (std::size_t chain : longest_first) {
    const auto least = std::min_element(load.begin(), load.end());
    least->first += work[chain];
    least->second += chains[chain].size();
    for (std::uint32_t launch : chains[chain]) {
      stream_of[launch] = first + static_cast<std::uint32_t>(least - load.begin());
    }
  }
}

// At most `streams` for the launches of each device, and one for its copies.
Assignment assign(const std::map<StreamPlace, std::vector<Chain>>& places, const Program& program,
                  std::uint32_t streams) {
  Assignment stream_of(program.launches.size());
  std::uint32_t first = 0;
  for (const auto& [place, chains] : places) {
    const bool copies = place.second == Stream::Kind::copy;
    const auto most = static_cast<std::uint32_t>(chains.size());
    const std::uint32_t count = copies ? 1 : std::max(1u, std::min(streams, most));
    assign(chains, program, first, count, stream_of);
    first += count;
  }
  return stream_of;
}

// Numbers the launches. The last one to write an output finishes it; it lets go of it if it is the
// last to use it too.
void finish(Program& program) {
  std::vector<Launch*> last_writer(program.slots.size()), last_user(program.slots.size());
  for (std::uint32_t i = 0; i < program.launches.size(); ++i) {
    Launch& launch = program.launches[i];
    launch.number = i;
    launch.finishes.clear();
    launch.lets_go.clear();
    for (SlotId id : launch.buffers) last_user[id] = &launch;
    for (SlotId id : launch.writes) last_writer[id] = &launch;
  }
  for (std::uint32_t i = 0; i < program.outputs.size(); ++i) {
    const SlotId id = program.outputs[i];
    Launch* launch = last_writer[id];
    if (!launch) continue;
    launch->finishes.push_back(i);
    if (last_user[id] == launch) launch->lets_go.push_back(i);
  }
}

/// A program and what its schedules are made from.
class Scheduler {
 public:
  Scheduler(const Program& program, const Options& options)
      : program_(program), options_(options), models_(models(program, options)) {
    const bool one = options.streams <= 1 || program.launches.size() <= 1 ||
                     program.launches.size() > most_launches;
    const bool spans = !program.further.empty();
    if (one && !spans && options.memory_limit == 0) return;
    dependencies_.emplace(program);
    if (one && !spans) return;
    chains_ = find_chains(*dependencies_);
    places_ = by_place(chains_, program);
  }

  Executable run() const {
    const Assignment best = choose();
    Executable executable = made(best);
    const std::size_t limit = options_.memory_limit;
    if (limit == 0 || executable.arena_bytes <= limit) return executable;
    const std::size_t streams = executable.streams.size(), wanted = executable.arena_bytes;
    for (std::size_t fewer = streams; fewer-- > 1;) {
      executable = made(assign(places_, program_, static_cast<std::uint32_t>(fewer)));
      if (executable.arena_bytes <= limit) return paid(std::move(executable), streams, wanted);
    }
    executable = frugal();
    if (executable.arena_bytes <= limit) return paid(std::move(executable), streams, wanted);
    throw Error(fmt::format(
        "compile: the temporaries of {} need {} bytes on one stream, and Options::memory_limit is "
        "{}; raise it, or make the arrays smaller",
        program_.name, executable.arena_bytes, limit));
  }

  /// Whether other times could make another schedule.
  bool has_choice() const { return chains_.size() > 1 && !options_.use_all_streams; }

 private:
  Assignment choose() const {
    if (chains_.empty()) return Assignment(program_.launches.size(), 0);
    const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(
        chains_.size(), static_cast<std::size_t>(std::max(1, options_.streams))));
    Assignment best = assign(places_, program_, 1);
    if (most <= 1) return best;
    if (options_.use_all_streams) return assign(places_, program_, most);
    const Predictor predictor(program_, &*dependencies_, models_);
    double best_ns = predictor.ns(best) * (1 - least_gain);
    for (std::uint32_t streams = 2; streams <= std::min(most, useful()); ++streams) {
      Assignment candidate = assign(places_, program_, streams);
      const double ns = predictor.ns(candidate);
      if (ns >= best_ns) continue;
      best_ns = ns;
      best = std::move(candidate);
    }
    return best;
  }

  // The most streams that are of use to any device.
  std::uint32_t useful() const {
    const auto most = std::ranges::max_element(models_, {}, &DeviceModel::most_streams);
    return static_cast<std::uint32_t>(most->most_streams);
  }

  Executable made(const Assignment& stream_of) const {
    Executable executable;
    if (std::any_of(stream_of.begin(), stream_of.end(), [](auto stream) { return stream > 0; })) {
      StreamLayout layout = lay_out(program_, *dependencies_, stream_of);
      executable.streams = std::move(layout.streams);
      executable.event_count = layout.event_count;
    } else {
      executable.streams.push_back({{program_.launches.begin(), program_.launches.end()}});
    }
    for (Stream& stream : executable.streams) {
      for (const Step& step : stream) {
        const auto* launch = std::get_if<Launch>(&step);
        if (launch) std::tie(stream.device, stream.kind) = place_of(program_, *launch);
      }
    }
    const Dependencies* dependencies = dependencies_ ? &*dependencies_ : nullptr;
    executable.prediction = Predictor(program_, dependencies, models_).predict(stream_of);
    executable.name = program_.name;
    executable.device = options_.device;
    for (const Device& device : program_.further) executable.further.push_back({device});
    executable.inputs = program_.inputs;
    executable.slots = program_.slots;
    executable.outputs = program_.outputs;
    executable.constants = program_.constants;
    plan_memory(executable);
    return executable;
  }

  // On one stream, in the order that keeps the fewest bytes live.
  Executable frugal() const {
    Program reordered = program_;
    std::vector<Launch>& launches = reordered.launches;
    launches.clear();
    for (std::uint32_t launch : frugal_order(program_, *dependencies_)) {
      launches.push_back(program_.launches[launch]);
    }
    finish(reordered);
    Options one = options_;
    one.streams = 1;
    one.memory_limit = 0;
    return Scheduler(reordered, one).run();
  }

  Executable paid(Executable executable, std::size_t streams, std::size_t wanted) const {
    const std::size_t kept = executable.streams.size();
    const std::string price = kept < streams ? fmt::format("{} streams fewer", streams - kept)
                                             : std::string("another order of the launches");
    executable.given_up =
        fmt::format("{}, so that temporaries take {} bytes instead of {}; the limit is {}", price,
                    executable.arena_bytes, wanted, options_.memory_limit);
    return executable;
  }

  const Program& program_;
  const Options& options_;
  std::vector<DeviceModel> models_;  // by device
  std::optional<Dependencies> dependencies_;
  std::vector<Chain> chains_;
  std::map<StreamPlace, std::vector<Chain>> places_;
};

}  // namespace

Executable schedule(Program program, const Options& options, const LaunchTimes* measured) {
  if (measured) {
    for (std::uint32_t i = 0; i < program.launches.size(); ++i) {
      program.launches[i].predicted_ns = measured->ns(i);
    }
  }
  finish(program);
  const Scheduler scheduler(program, options);
  Executable executable = scheduler.run();
  executable.prediction.measured = measured != nullptr;
  // Launches in another order than the program's have other numbers, so that no times are theirs.
  const bool may_measure = executable.given_up.empty() && options.device.kind() != DeviceKind::null;
  if (scheduler.has_choice() && may_measure && !measured) {
    executable.times = std::make_shared<LaunchTimes>(program.launches.size());
  }
  executable.replays = Replays::of(executable);
  return executable;
}

}  // namespace anabranch
