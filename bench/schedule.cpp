// What scheduling costs: streams and memory for programs of so many launches, and how near the
// arena comes to the bytes live at once.
#include "codegen/schedule.h"

#include <benchmark/benchmark.h>

#include <random>

#include "codegen/memory_plan.h"
#include "tests/support/fake_program.h"

namespace {

using namespace anabranch;

// A random program; `reach` is how far back a launch reads. Sizes differ by a factor of a hundred.
Program program_of(std::int64_t launches, std::int64_t reach) {
  std::mt19937 random(7);
  testing::FakeProgram made(64);
  std::vector<SlotId> values = {made.input()};
  for (std::int64_t i = 0; i < launches; ++i) {
    const auto back = static_cast<std::size_t>(
        std::min<std::int64_t>(reach, static_cast<std::int64_t>(values.size())));
    std::vector<SlotId> reads = {values[values.size() - 1 - random() % back],
                                 values[values.size() - 1 - random() % back]};
    values.push_back(i + 1 < launches ? made.temporary() : made.output());
    made.program().slots[values.back()].type.shape =
        Shape{static_cast<std::int64_t>(64 << (random() % 7))};
    made.launch(reads, values.back()).in_place.clear();
  }
  return made.program();
}

void memory(benchmark::State& state) {
  Options options;
  options.device = Device::null();
  options.streams = static_cast<int>(state.range(1));
  options.use_all_streams = true;
  Executable executable = schedule(program_of(state.range(0), 16), options);
  for (auto _ : state) plan_memory(executable);
  state.counters["per 1,000 buffers"] = benchmark::Counter(
      static_cast<double>(state.range(0)) / 1000,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["of live"] =
      static_cast<double>(executable.arena_bytes) / static_cast<double>(executable.live_bytes);
}

void whole_schedule(benchmark::State& state) {
  Options options;
  options.device = Device::null();
  const Program program = program_of(state.range(0), 16);
  for (auto _ : state) benchmark::DoNotOptimize(schedule(program, options));
}

BENCHMARK(memory)
    ->Name("memory plan")
    ->ArgNames({"buffers", "streams"})
    ->ArgsProduct({{100, 1000, 4000}, {1, 4}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(whole_schedule)
    ->Name("schedule")
    ->ArgName("launches")
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
