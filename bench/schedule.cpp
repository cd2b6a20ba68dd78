// What scheduling costs: streams and memory for programs of so many steps, and how near the
// arena comes to the bytes live at once.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "codegen/memory/memory_plan.h"
#include "tests/support/fake_graphs.h"

namespace {

using namespace anabranch;

// A random program; a step reads two of the 16 values before it. Sizes differ by a factor of a
// hundred.
Program program_of(std::int64_t steps) {
  std::mt19937 random(7);
  testing::SizedProgram made = testing::reaching_program(random, static_cast<int>(steps), 16);
  for (Slot& slot : made.program().slots) {
    slot.type.shape = Shape{static_cast<std::int64_t>(64 << (random() % 7))};
  }
  for (Step& step : made.program().steps) step.in_place.clear();
  return made.program();
}

// So many layers, five temporaries each.
Program training_step_of(std::int64_t layers) {
  std::mt19937 random(7);
  return testing::training_program(random, static_cast<int>(layers)).program();
}

void plan(benchmark::State& state, Program program) {
  Options options;
  options.device = Device::null();
  options.streams = static_cast<int>(state.range(1));
  options.use_all_streams = true;
  program = testing::scheduled(std::move(program), options);
  for (auto _ : state) plan_memory(program);
  const auto buffers =
      std::count_if(program.slots.begin(), program.slots.end(),
                    [](const Slot& slot) { return slot.kind == Slot::Kind::temporary; });
  state.counters["per 1,000 buffers"] = benchmark::Counter(
      static_cast<double>(buffers) / 1000,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["of live"] = static_cast<double>(program.arena_bytes()) /
                              static_cast<double>(program.devices[0].live_bytes);
}

void random_program(benchmark::State& state) { plan(state, program_of(state.range(0))); }
void training_step(benchmark::State& state) { plan(state, training_step_of(state.range(0))); }

void whole_schedule(benchmark::State& state) {
  Options options;
  options.device = Device::null();
  const Program program = program_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(testing::scheduled(program, options));
}

BENCHMARK(training_step)
    ->Name("memory plan of a training step")
    ->ArgNames({"layers", "streams"})
    ->ArgsProduct({{20, 200, 800}, {1, 4}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(random_program)
    ->Name("memory plan")
    ->ArgNames({"buffers", "streams"})
    ->ArgsProduct({{100, 1000, 4000}, {1, 4}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(whole_schedule)
    ->Name("schedule")
    ->ArgName("steps")
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
