// Arrays put together, turned and padded, and the stencils made of them: kernels whose loops are
// cut where their operands meet.
//
// Floor: a copy of the same bytes; the loops in plain C++, which read and write each byte once.
#include <anabranch/anabranch.h>

#include <cstring>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

constexpr std::int64_t four_million = 4 << 20, hundred_thousand = 100'000, side = 512;
constexpr int steps = 100;

using Floats = std::vector<float>;

Floats numbers(std::int64_t count) {
  Floats values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 1000) * 0.001f;
  }
  return values;
}

ab::Array array(std::int64_t count) { return ab::array(numbers(count), {count}); }
ab::Array square() { return ab::array(numbers(side * side), {side, side}); }

template <class F>
void run(benchmark::State& state, F&& function, const ab::Array& x) {
  auto call = ab::jit(function);
  for (auto _ : state) call(x).wait();
}

void joined(benchmark::State& state) {
  run(
      state,
      [](ab::Array x) {
        return ab::concat({x, x});
      },
      array(four_million));
}
void stacked(benchmark::State& state) {
  run(
      state,
      [](ab::Array x) {
        return ab::stack({x, x});
      },
      array(four_million));
}
void copied(benchmark::State& state) {
  const Floats from = numbers(four_million);
  Floats to(2 * from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    std::memcpy(to.data() + from.size(), from.data(), from.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
}

void rolled(benchmark::State& state) {
  run(
      state, [](ab::Array x) { return ab::roll(x, 30'001); }, array(hundred_thousand));
}
void rolled_by_hand(benchmark::State& state) {
  const Floats from = numbers(hundred_thousand);
  Floats to(from.size());
  constexpr std::size_t shift = 30'001;
  for (auto _ : state) {
    std::memcpy(to.data() + shift, from.data(), (from.size() - shift) * sizeof(float));
    std::memcpy(to.data(), from.data() + from.size() - shift, shift * sizeof(float));
    benchmark::ClobberMemory();
  }
}

// A hundred steps of u = step(u).
template <class Step>
void steps_of(benchmark::State& state, Step step, const ab::Array& start) {
  run(
      state,
      [step](ab::Array x) {
        return ab::fori_loop(
            0, steps, [step](const ab::Array&, ab::Array& u) { return step(u); }, x);
      },
      start);
}

// Heat on a ring: u += 0.1 (left - 2 u + right).
ab::Array ring_step(const ab::Array& u) {
  return u + 0.1f * (ab::roll(u, 1) - 2.0f * u + ab::roll(u, -1));
}
void ring(benchmark::State& state) { steps_of(state, ring_step, array(hundred_thousand)); }
void ring_by_hand(benchmark::State& state) {
  const Floats from = numbers(hundred_thousand);
  Floats u = from, next = from;
  const std::size_t n = u.size();
  for (auto _ : state) {
    for (int step = 0; step < steps; ++step) {
      next[0] = u[0] + 0.1f * (u[n - 1] - 2 * u[0] + u[1]);
      for (std::size_t i = 1; i + 1 < n; ++i) {
        next[i] = u[i] + 0.1f * (u[i - 1] - 2 * u[i] + u[i + 1]);
      }
      next[n - 1] = u[n - 1] + 0.1f * (u[n - 2] - 2 * u[n - 1] + u[0]);
      u.swap(next);
    }
    benchmark::ClobberMemory();
  }
}

// Heat on a square whose border is held at 0.
ab::Array plate_step(const ab::Array& u) {
  const ab::Array p = ab::pad(u, {1, 1}, {1, 1});
  const auto part = [&](std::int64_t i, std::int64_t j) {
    return ab::slice(p, {i, j}, {i + side, j + side});
  };
  return u + 0.1f * (part(0, 1) + part(2, 1) + part(1, 0) + part(1, 2) - 4.0f * u);
}
void plate(benchmark::State& state) { steps_of(state, plate_step, square()); }
void plate_by_hand(benchmark::State& state) {
  constexpr std::size_t n = side, row = n + 2;
  Floats u(row * row), next = u;
  for (auto _ : state) {
    for (int step = 0; step < steps; ++step) {
      for (std::size_t i = 1; i <= n; ++i) {
        for (std::size_t j = 1; j <= n; ++j) {
          const std::size_t k = i * row + j;
          next[k] = u[k] + 0.1f * (u[k - row] + u[k + row] + u[k - 1] + u[k + 1] - 4 * u[k]);
        }
      }
      u.swap(next);
    }
    benchmark::ClobberMemory();
  }
}

BENCHMARK(joined)->Name("concat({x, x}) of 4M/ours")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(stacked)
    ->Name("concat({x, x}) of 4M/peer: stack({x, x})")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(copied)
    ->Name("concat({x, x}) of 4M/peer: memcpy, one thread")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(rolled)->Name("roll of 100k/ours")->UseRealTime();
BENCHMARK(rolled_by_hand)->Name("roll of 100k/peer: memcpy")->UseRealTime();
BENCHMARK(ring)->Name("100 steps on a ring of 100k/ours")->UseRealTime();
BENCHMARK(ring_by_hand)->Name("100 steps on a ring of 100k/peer: the loop in C++")->UseRealTime();
BENCHMARK(plate)->Name("100 steps on a 512x512 plate/ours")->UseRealTime();
BENCHMARK(plate_by_hand)->Name("100 steps on a 512x512 plate/peer: the loop in C++")->UseRealTime();

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv); }
