// What a call costs beside its work: submitting and reading a tiny cached call, and compiling a
// chain that was never seen before.
#include <anabranch/anabranch.h>

#include <string>
#include <vector>

#include "bench/compare.h"
#include "codegen/compile.h"

namespace ab = anabranch;

namespace {

auto tiny() {
  return ab::jit([](ab::Array x, ab::Array y) { return x * y + 2.0f; });
}

ab::Array pair_of(float first, float second) {
  return ab::array(std::vector<float>{first, second}, {1, 2});
}

void submit(benchmark::State& state) {
  auto call = tiny();
  ab::Array x = pair_of(1, 2), y = pair_of(3, 4);
  call(x, y).wait();
  for (auto _ : state) benchmark::DoNotOptimize(call(x, y));
  ab::wait_all();
}

void submit_and_read(benchmark::State& state) {
  auto call = tiny();
  ab::Array x = pair_of(1, 2), y = pair_of(3, 4);
  for (auto _ : state) benchmark::DoNotOptimize(call(x, y).to_vector<float>());
}

void by_hand(benchmark::State& state) {
  std::vector<float> x = {1, 2}, y = {3, 4};
  for (auto _ : state) {
    std::vector<float> z(2);
    for (int i = 0; i < 2; ++i) z[i] = x[i] * y[i] + 2.0f;
    benchmark::DoNotOptimize(z.data());
  }
}

// Thirty-two ops whose constants differ from call to call, so that no cache knows the graph.
void cold_compile(benchmark::State& state) {
  static float salt = 0;
  for (auto _ : state) {
    salt += 1;
    auto graph = ab::trace(
        [](ab::Array x) {
          ab::Array y = x;
          for (int i = 0; i < 16; ++i) y = y * (salt + 0.5f + static_cast<float>(i)) + x;
          return y;
        },
        ab::spec(ab::f32, {1 << 20}));
    benchmark::DoNotOptimize(ab::compile(graph));
  }
}

BENCHMARK(submit)->Name("x*y+2 on (1,2), submit/ours")->UseRealTime();
BENCHMARK(by_hand)->Name("x*y+2 on (1,2), submit/peer: C++ loop into a new vector")->UseRealTime();
BENCHMARK(submit_and_read)->Name("x*y+2 on (1,2), read/ours")->UseRealTime();
BENCHMARK(by_hand)->Name("x*y+2 on (1,2), read/peer: C++ loop into a new vector")->UseRealTime();
BENCHMARK(cold_compile)->Name("compile 32 ops/ours")->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv); }
