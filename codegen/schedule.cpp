#include "codegen/schedule.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#include "codegen/chains.h"
#include "codegen/dependencies.h"
#include "codegen/memory_plan.h"
#include "codegen/predict.h"
#include "codegen/stream_layout.h"

namespace anabranch {
namespace {

// A prediction must promise at least this much before a second stream is worth it.
constexpr double least_gain = 0.05;
// Beyond this the dependency graph (a bit per pair of launches) grows past 32 MB.
constexpr std::size_t most_launches = 16384;

int parallelism(const Device& device, const Options& options) {
  if (device.kind() == DeviceKind::null) return std::max(1, options.streams);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

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

Assignment choose(const Program& program, const std::vector<Chain>& chains,
                  const Predictor& predictor, const Options& options) {
  const auto most = static_cast<std::uint32_t>(
      std::min<std::size_t>(chains.size(), static_cast<std::size_t>(options.streams)));
  if (options.use_all_streams) return assign(chains, program, std::max(1u, most));
  Assignment best(program.launches.size(), 0);
  double best_ns = predictor.ns(best) * (1 - least_gain);
  for (std::uint32_t streams = 2; streams <= most; ++streams) {
    Assignment candidate = assign(chains, program, streams);
    const double ns = predictor.ns(candidate);
    if (ns >= best_ns) continue;
    best_ns = ns;
    best = std::move(candidate);
  }
  return best;
}

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

void number(Program& program, const LaunchTimes* measured) {
  for (std::uint32_t i = 0; i < program.launches.size(); ++i) {
    program.launches[i].number = i;
    if (measured) program.launches[i].predicted_ns = measured->ns(i);
  }
}

Executable on_one_stream(const Program& program, const Options& options) {
  Executable executable;
  executable.streams.push_back({{program.launches.begin(), program.launches.end()}});
  const Predictor predictor(program, nullptr, parallelism(options.device, options));
  executable.prediction = predictor.predict(Assignment(program.launches.size(), 0));
  return executable;
}

Executable on_several_streams(const Program& program, const Options& options, bool measured) {
  const Dependencies dependencies(program);
  const std::vector<Chain> chains = find_chains(dependencies);
  const Predictor predictor(program, &dependencies, parallelism(options.device, options));
  const Assignment stream_of = choose(program, chains, predictor, options);
  StreamLayout layout = lay_out(program, dependencies, stream_of);
  Executable executable;
  executable.streams = std::move(layout.streams);
  executable.event_count = layout.event_count;
  executable.prediction = predictor.predict(stream_of);
  const bool may_differ = chains.size() > 1 && !options.use_all_streams;
  if (may_differ && !measured && options.device.kind() != DeviceKind::null) {
    executable.times = std::make_shared<LaunchTimes>(program.launches.size());
  }
  return executable;
}

}  // namespace

Executable schedule(Program program, const Options& options, const LaunchTimes* measured) {
  mark_finished_outputs(program);
  number(program, measured);
  const bool one = options.streams <= 1 || program.launches.size() <= 1 ||
                   program.launches.size() > most_launches;
  Executable executable = one ? on_one_stream(program, options)
                              : on_several_streams(program, options, measured != nullptr);
  executable.prediction.measured = measured != nullptr;
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
