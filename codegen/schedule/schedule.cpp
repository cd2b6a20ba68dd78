#include "codegen/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "anabranch/error.h"
#include "codegen/backends.h"
#include "codegen/memory/memory_plan.h"
#include "codegen/schedule/chains.h"
#include "codegen/schedule/dependencies.h"
#include "codegen/schedule/minimum_memory_order.h"
#include "codegen/schedule/predict.h"
#include "codegen/schedule/stream_layout.h"
#include "runtime/executor/launch_times.h"

namespace anabranch {
namespace {

// A prediction must promise at least this much before a second stream is worth it.
constexpr double least_gain = 0.05;
// Beyond this the dependency graph (a bit per pair of steps) grows past 32 MB.
constexpr std::size_t most_steps = 16384;

// By device of the program.
std::vector<DeviceModel> models(const Program& program, const Options& options) {
  std::vector<DeviceModel> result;
  for (const ProgramDevice& place : program.devices) {
    result.push_back(backend_of(place.device).model(place.device, options));
  }
  return result;
}

/// What a stream is for: it holds steps of one device and one kind.
using StreamPlace = std::pair<DeviceIndex, Stream::Kind>;

StreamPlace place_of(const Program& program, const Step& step) {
  const bool copies = std::holds_alternative<TransferStep>(step.work);
  return {device_of(program, step), copies ? Stream::Kind::copy : Stream::Kind::compute};
}

// The chains, cut where they go from one place to another.
std::map<StreamPlace, std::vector<Chain>> by_place(const std::vector<Chain>& chains,
                                                   const Program& program) {
  std::map<StreamPlace, std::vector<Chain>> result;
  for (const Chain& chain : chains) {
    std::map<StreamPlace, Chain> parts;
    for (std::uint32_t i : chain) parts[place_of(program, program.steps[i])].push_back(i);
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
    for (StepId step : chains[i]) work[i] += program.steps[step].predicted_ns;
  }
  std::vector<std::size_t> longest_first(chains.size());
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  std::vector<std::pair<double, std::size_t>> load(streams);  // work, then number of steps
  for (std::size_t chain : longest_first) {
    const auto least = std::min_element(load.begin(), load.end());
    least->first += work[chain];
    least->second += chains[chain].size();
    for (StepId step : chains[chain]) {
      stream_of[step] = first + static_cast<std::uint32_t>(least - load.begin());
    }
  }
}

// At most `streams` for the steps of each device, and one for its copies.
Assignment assign(const std::map<StreamPlace, std::vector<Chain>>& places, const Program& program,
                  std::uint32_t streams) {
  Assignment stream_of(program.steps.size());
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

// The last step to write an output finishes it; it lets go of it if it is the last to use it too.
void finish(Program& program, std::span<const StepId> order) {
  std::vector<Step*> last_writer(program.slots.size()), last_user(program.slots.size());
  for (StepId id : order) {
    Step& step = program.steps[id];
    step.finishes.clear();
    step.lets_go.clear();
    for (SlotId slot : step.buffers) last_user[slot] = &step;
    for (SlotId slot : step.writes) last_writer[slot] = &step;
  }
  for (std::uint32_t i = 0; i < program.outputs.size(); ++i) {
    const SlotId id = program.outputs[i];
    Step* step = last_writer[id];
    if (!step) continue;
    step->finishes.push_back(i);
    if (last_user[id] == step) step->lets_go.push_back(i);
  }
}

/// A program and what its schedules are made from.
class Scheduler {
 public:
  Scheduler(Program& program, const Options& options)
      : program_(program), options_(options), models_(models(program, options)) {
    const bool one =
        options.streams <= 1 || program.steps.size() <= 1 || program.steps.size() > most_steps;
    const bool spans = program.devices.size() > 1;
    if (one && !spans && options.memory_limit == 0) return;
    dependencies_.emplace(program);
    if (one && !spans) return;
    chains_ = find_chains(*dependencies_);
    places_ = by_place(chains_, program);
  }

  void put_on_streams() {
    program_.degradation.clear();
    lay(choose());
  }

  void fit_memory() {
    plan_memory(program_);
    const std::size_t limit = options_.memory_limit;
    if (limit == 0 || program_.arena_bytes() <= limit) return;
    const std::size_t streams = program_.streams.size(), wanted = program_.arena_bytes();
    for (std::size_t fewer = streams; fewer-- > 1;) {
      lay(assign(places_, program_, static_cast<std::uint32_t>(fewer)));
      plan_memory(program_);
      if (program_.arena_bytes() <= limit) return pay(streams, wanted);
    }
    const std::vector<StepId> order = minimum_memory_order(program_, *dependencies_);
    lay(chains_.empty() ? Assignment(order.size(), 0) : assign(places_, program_, 1), order);
    plan_memory(program_);
    if (program_.arena_bytes() <= limit) return pay(streams, wanted);
    throw Error(fmt::format(
        "compile: the temporaries of {} need {} bytes on one stream, and Options::memory_limit is "
        "{}; raise it, or make the arrays smaller",
        program_.name, program_.arena_bytes(), limit));
  }

  /// Whether other times could make another schedule.
  bool has_choice() const { return chains_.size() > 1 && !options_.use_all_streams; }

 private:
  Assignment choose() const {
    if (chains_.empty()) return Assignment(program_.steps.size(), 0);
    const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(
        chains_.size(), static_cast<std::size_t>(std::max(1, options_.streams))));
    Assignment best = assign(places_, program_, 1);
    if (most <= 1) return best;
    if (options_.use_all_streams) return assign(places_, program_, most);
    const Predictor predictor(program_, &*dependencies_, models_);
    double best_ns = predictor.ns(best) * (1 - least_gain);
    // From 16 on, a sixteenth more at a time: to lay out so many takes their square, for each
    // count.
    const std::uint32_t greatest = std::min(most, useful());
    for (std::uint32_t streams = 2; streams <= greatest; streams += 1 + streams / 16) {
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

  std::vector<StepId> order_of_program() const {
    std::vector<StepId> order(program_.steps.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  void lay(const Assignment& stream_of) { lay(stream_of, order_of_program()); }

  void lay(const Assignment& stream_of, const std::vector<StepId>& order) {
    finish(program_, order);
    if (std::ranges::any_of(stream_of, [](auto stream) { return stream > 0; })) {
      return place(lay_out(program_, *dependencies_, stream_of, order), stream_of);
    }
    StreamLayout layout;
    layout.streams.emplace_back();
    for (StepId id : order) layout.streams[0].commands.push_back(Launch{id});
    place(std::move(layout), stream_of);
  }

  void place(StreamLayout layout, const Assignment& stream_of) {
    program_.streams = std::move(layout.streams);
    program_.event_count = layout.event_count;
    for (Stream& stream : program_.streams) {
      for (const Command& command : stream) {
        const Step* step = step_of(program_, command);
        if (step) std::tie(stream.device, stream.kind) = place_of(program_, *step);
      }
    }
    const Dependencies* dependencies = dependencies_ ? &*dependencies_ : nullptr;
    program_.prediction = Predictor(program_, dependencies, models_).predict(stream_of);
  }

  void pay(std::size_t streams, std::size_t wanted) {
    const std::size_t kept = program_.streams.size();
    const std::size_t lost = streams - std::min(kept, streams);
    const std::string price = lost > 0 ? fmt::format("{} stream{} fewer", lost, lost > 1 ? "s" : "")
                                       : std::string("another order of the launches");
    program_.degradation =
        fmt::format("{}, so that temporaries take {} bytes instead of {}; the limit is {}", price,
                    program_.arena_bytes(), wanted, options_.memory_limit);
  }

  Program& program_;
  const Options& options_;
  std::vector<DeviceModel> models_;  // by device
  std::optional<Dependencies> dependencies_;
  std::vector<Chain> chains_;
  std::map<StreamPlace, std::vector<Chain>> places_;
};

}  // namespace

bool put_on_streams(Program& program, const Options& options) {
  Scheduler scheduler(program, options);
  scheduler.put_on_streams();
  return scheduler.has_choice();
}

void fit_memory(Program& program, const Options& options) {
  if (options.memory_limit == 0) return plan_memory(program);
  Scheduler(program, options).fit_memory();
}

Schedule schedule(Program program, const Options& options, const LaunchTimes* measured) {
  if (measured) {
    for (StepId i = 0; i < program.steps.size(); ++i) {
      program.steps[i].predicted_ns = measured->ns(i);
    }
  }
  Schedule made{std::move(program)};
  made.has_choice = put_on_streams(made.program, options);
  fit_memory(made.program, options);
  made.program.prediction.measured = measured != nullptr;
  return made;
}

}  // namespace anabranch
