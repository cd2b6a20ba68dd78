// Loops that are part of the program: a native loop of a million scalar steps, a thousand steps
// over a small array, and a scan that writes its rows where they stay.
#include <anabranch/anabranch.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

// x = x * 1.0000001 + i, a million times. The program is not known: its limit is an argument.
void scalar_while(benchmark::State& state) {
  auto call = ab::jit([](ab::Array limit, ab::Array x0) {
    return ab::while_loop([&](auto& carry) { return std::get<0>(carry) < limit; },
                          [&](auto& carry) {
                            auto& [i, x] = carry;
                            return std::tuple{i + 1, x * 1.0000001 + i.astype(ab::f64)};
                          },
                          std::tuple{ab::scalar(0), x0});
  });
  const ab::Array limit = ab::scalar(1'000'000), x = ab::scalar(1.0);
  for (auto _ : state) benchmark::DoNotOptimize(std::get<1>(call(limit, x)).item<double>());
}

void scalar_by_hand(benchmark::State& state) {
  int limit = 1'000'000;
  benchmark::DoNotOptimize(limit);
  for (auto _ : state) {
    double x = 1;
    for (int i = 0; i < limit; ++i) x = x * 1.0000001 + i;
    benchmark::DoNotOptimize(x);
  }
}

ab::Array calmed(const ab::Array& x) { return x * 0.999f + 0.5f; }

void small_array_loop(benchmark::State& state) {
  auto call = ab::jit([](ab::Array x) {
    return ab::fori_loop(
        0, 1000, [](const ab::Array&, ab::Array& y) { return calmed(y); }, x);
  });
  const ab::Array x = ab::ones({64, 64});
  for (auto _ : state) call(x).wait();
}

void small_array_calls(benchmark::State& state) {
  auto call = ab::jit([](ab::Array x) { return calmed(x); });
  const ab::Array x = ab::ones({64, 64});
  for (auto _ : state) {
    ab::Array y = x;
    for (int i = 0; i < 1000; ++i) y = call(y);
    y.wait();
  }
}

ab::Array layer(const ab::Array& w, const ab::Array& x) { return ab::tanh(ab::matmul(x, w)); }

void matmul_loop(benchmark::State& state) {
  auto call = ab::jit([](ab::Array w, ab::Array x) {
    return ab::fori_loop(
        0, 1000, [&](const ab::Array&, ab::Array& y) { return layer(w, y); }, x);
  });
  const ab::Array x = ab::full({64, 64}, 0.1f);
  for (auto _ : state) call(x, x).wait();
}

void matmul_calls(benchmark::State& state) {
  auto call = ab::jit([](ab::Array w, ab::Array x) { return layer(w, x); });
  const ab::Array x = ab::full({64, 64}, 0.1f);
  for (auto _ : state) {
    ab::Array y = x;
    for (int i = 0; i < 1000; ++i) y = call(x, y);
    y.wait();
  }
}

// Each step writes one row of [steps, 256]: if it copied the array, it would take `steps` times as
// long.
void scan_rows(benchmark::State& state) {
  const std::int64_t steps = state.range(0);
  auto call = ab::jit([steps](ab::Array x) {
    return ab::scan(
        [](ab::Array& carry) {
          ab::Array next = calmed(carry);
          return std::pair{next, next};
        },
        x, steps);
  });
  const ab::Array x = ab::ones({256});
  for (auto _ : state) std::get<1>(call(x)).wait();
}

void scan_by_hand(benchmark::State& state) {
  const auto steps = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    std::vector<float> carry(256, 1.0f), rows(256 * steps);
    for (std::size_t i = 0; i < steps; ++i) {
      for (std::size_t k = 0; k < 256; ++k) {
        carry[k] = std::fma(carry[k], 0.999f, 0.5f);
        rows[i * 256 + k] = carry[k];
      }
    }
    benchmark::DoNotOptimize(rows.data());
  }
}

BENCHMARK(scalar_while)
    ->Name("while of 1e6 scalar steps/ours")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(scalar_by_hand)
    ->Name("while of 1e6 scalar steps/peer: the loop in C++")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(small_array_loop)->Name("1000 steps over 64x64/ours")->UseRealTime();
BENCHMARK(small_array_calls)->Name("1000 steps over 64x64/peer: 1000 calls")->UseRealTime();
BENCHMARK(matmul_loop)->Name("1000 layers of 64x64/ours")->UseRealTime();
BENCHMARK(matmul_calls)->Name("1000 layers of 64x64/peer: 1000 calls")->UseRealTime();
BENCHMARK(scan_rows)->Name("scan into rows of 256/ours")->Arg(1000)->UseRealTime();
BENCHMARK(scan_by_hand)
    ->Name("scan into rows of 256/peer: the loops in C++")
    ->Arg(1000)
    ->UseRealTime();
BENCHMARK(scan_rows)->Name("scan into ten times the rows/ours")->Arg(10'000)->UseRealTime();

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv); }
