// Sorts beside std::sort, and running sums beside a copy of the same bytes, in one run. The copy is
// made by our own kernel on all cores, and by memcpy on one.
#include <anabranch/anabranch.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

using Run = std::function<void(benchmark::State&)>;

std::vector<float> random_floats(std::int64_t count) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(engine);
  return values;
}

Run ours(std::int64_t count, const std::function<ab::Array(ab::Array)>& function) {
  return [=](benchmark::State& state) {
    const auto compiled = ab::jit([=](ab::Array x) { return function(x); });
    const ab::Array x = ab::array(random_floats(count), {count});
    compiled(x).wait();
    for (auto _ : state) compiled(x).wait();
  };
}

// Sorting includes a copy of what is sorted, as ours leaves its operand alone.
void std_sort(benchmark::State& state, std::int64_t count) {
  const std::vector<float> values = random_floats(count);
  std::vector<float> sorted(values.size());
  for (auto _ : state) {
    std::ranges::copy(values, sorted.begin());
    std::sort(sorted.begin(), sorted.end());
    benchmark::DoNotOptimize(sorted.data());
  }
}

void std_argsort(benchmark::State& state, std::int64_t count) {
  const std::vector<float> values = random_floats(count);
  std::vector<std::int64_t> places(values.size());
  for (auto _ : state) {
    std::iota(places.begin(), places.end(), std::int64_t{0});
    std::sort(places.begin(), places.end(), [&](std::int64_t i, std::int64_t j) {
      return values[static_cast<std::size_t>(i)] < values[static_cast<std::size_t>(j)];
    });
    benchmark::DoNotOptimize(places.data());
  }
}

void plain_copy(benchmark::State& state, std::int64_t count) {
  const std::vector<float> values = random_floats(count);
  std::vector<float> copy(values.size());
  for (auto _ : state) {
    std::memcpy(copy.data(), values.data(), values.size() * sizeof(float));
    benchmark::DoNotOptimize(copy.data());
  }
}

void add(const std::string& title, const Run& run) {
  benchmark::RegisterBenchmark(title.c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::int64_t count : {std::int64_t{1} << 10, std::int64_t{1} << 20}) {
    const std::string of = " of " + std::to_string(count) + " f32";
    const Run plain = [=](benchmark::State& state) { std_sort(state, count); };
    add("sort" + of + "/ours", ours(count, [](const ab::Array& x) { return ab::sort(x); }));
    add("sort" + of + "/peer: std::sort", plain);
    add("argsort" + of + "/ours", ours(count, [](const ab::Array& x) { return ab::argsort(x); }));
    add("argsort" + of + "/peer: std::sort of the values", plain);
    add("argsort" + of + "/peer: std::sort of positions",
        [=](benchmark::State& state) { std_argsort(state, count); });
  }
  const std::int64_t count = std::int64_t{1} << 24;
  add("cumsum of 2^24 f32/ours", ours(count, [](const ab::Array& x) { return ab::cumsum(x); }));
  add("cumsum of 2^24 f32/peer: our copy, -x", ours(count, [](const ab::Array& x) { return -x; }));
  add("cumsum of 2^24 f32/peer: memcpy",
      [=](benchmark::State& state) { plain_copy(state, count); });
  return bench::run(argc, argv);
}
