// Loops that are part of the program: a native loop of a million scalar steps, a thousand steps
// over a small array, a scan that writes its rows where they stay, steps that take constants, masks
// and powers: these are computed in the loop, where they cost less than to load; and a loop under
// two vmaps, which ends for each element by itself, and one whose examples carry a point each.
#include <anabranch/anabranch.h>

#include <algorithm>
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
  const ab::Array limit = ab::scalar(1'000'000), x = ab::scalar(1.0, ab::f64);
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

// One step of 512 bodies that attract each other: a table of 512 x 512, masked on its diagonal.
constexpr std::int64_t bodies = 512;

std::tuple<ab::Array, ab::Array> attracted(const ab::Array& x, const ab::Array& v) {
  const ab::Array i = ab::arange(bodies);
  const ab::Array is_self = ab::reshape(i, {bodies, 1}) == ab::reshape(i, {1, bodies});
  const ab::Array away = ab::reshape(x, {1, bodies}) - ab::reshape(x, {bodies, 1});
  const ab::Array square = ab::pow(away, 2.0f) + 0.01f;
  const ab::Array pull = ab::where(is_self, ab::zeros({bodies, bodies}), away / (square * square));
  const ab::Array next = v + 1e-5f * ab::sum(pull, 1);
  return std::tuple{x + 0.01f * next, next};
}

ab::Array places() { return ab::arange(bodies).astype(ab::f32) * 0.01f; }

void bodies_in_a_loop(benchmark::State& state) {
  auto call = ab::jit([](ab::Array x, ab::Array v) {
    return ab::fori_loop(
        0, 10,
        [](const ab::Array&, auto& carry) {
          return attracted(std::get<0>(carry), std::get<1>(carry));
        },
        std::tuple{x, v});
  });
  const ab::Array x = places(), v = ab::zeros({bodies});
  for (auto _ : state) std::get<0>(call(x, v)).wait();
}

void bodies_in_calls(benchmark::State& state) {
  auto call = ab::jit([](ab::Array x, ab::Array v) { return attracted(x, v); });
  for (auto _ : state) {
    std::tuple carry{places(), ab::zeros({bodies})};
    for (int i = 0; i < 10; ++i) carry = call(std::get<0>(carry), std::get<1>(carry));
    std::get<0>(carry).wait();
  }
}

constexpr std::int64_t squares = 100'000;

void squares_in_a_loop(benchmark::State& state) {
  auto call = ab::jit([](ab::Array x) {
    return ab::fori_loop(
        0, 100, [](const ab::Array&, ab::Array& u) { return ab::pow(u, 2.0f) - 0.5f; }, x);
  });
  const ab::Array x = ab::full({squares}, 0.1f);
  for (auto _ : state) call(x).wait();
}

void squares_by_hand(benchmark::State& state) {
  std::vector<float> u(static_cast<std::size_t>(squares));
  for (auto _ : state) {
    std::fill(u.begin(), u.end(), 0.1f);
    for (int step = 0; step < 100; ++step) {
      for (float& value : u) value = value * value - 0.5f;
      benchmark::ClobberMemory();
    }
  }
}

// How far rays go until they meet a ball or a floor, in steps as long as the distance to the
// nearest of both.
constexpr std::int64_t ray_rows = 480, ray_columns = 640;
constexpr float far_away = 20.0f, near = 1e-3f;

ab::Array distance(const ab::Array& p) {
  return ab::minimum(ab::sqrt(ab::sum(ab::square(p))) - 0.65f, p[1] + 0.6f);
}

ab::Array march(const ab::Array& x, const ab::Array& y) {
  const ab::Array eye = ab::array({0.0f, 0.3f, -2.5f}), ray = ab::stack({x, y, ab::scalar(1.5f)});
  const auto goes_on = [](auto& state) {
    return (std::get<1>(state) > near) & (std::get<0>(state) < far_away);
  };
  const auto step = [&](auto& state) {
    const ab::Array t = std::get<0>(state) + 0.5f * std::get<1>(state);
    return std::tuple{t, distance(eye + t * ray)};
  };
  return std::get<0>(ab::while_loop(goes_on, step, std::tuple{ab::scalar(0.0f), ab::scalar(1.0f)}));
}

void rays_by_vmap(benchmark::State& state) {
  const auto row = ab::vmap(march, ab::in_axes(0, ab::unmapped));
  auto call = ab::jit(ab::vmap(row, ab::in_axes(ab::unmapped, 0)));
  const ab::Array x = ab::linspace(-1, 1, ray_columns), y = ab::linspace(0.75, -0.75, ray_rows);
  for (auto _ : state) call(x, y).wait();
}

void rays_by_hand(benchmark::State& state) {
  std::vector<float> went(static_cast<std::size_t>(ray_rows * ray_columns));
  for (auto _ : state) {
    for (std::int64_t i = 0; i < ray_rows; ++i) {
      for (std::int64_t j = 0; j < ray_columns; ++j) {
        const float x = -1 + 2 * static_cast<float>(j) / (ray_columns - 1);
        const float y = 0.75f - 1.5f * static_cast<float>(i) / (ray_rows - 1);
        float t = 0, gap = 1;
        while (gap > near && t < far_away) {
          t += 0.5f * gap;
          const float px = t * x, py = 0.3f + t * y, pz = -2.5f + 1.5f * t;
          gap = std::min(std::sqrt(px * px + py * py + pz * pz) - 0.65f, py + 0.6f);
        }
        went[static_cast<std::size_t>(i * ray_columns + j)] = t;
      }
    }
    benchmark::DoNotOptimize(went.data());
    benchmark::ClobberMemory();
  }
}

// Lorenz's equations from many points, 100 steps of Runge and Kutta's.
constexpr std::int64_t systems = 100'000;
constexpr float step_size = 0.01f;

ab::Array lorenz(const ab::Array& start) {
  const auto slope = [](const ab::Array& s) {
    return ab::stack(
        {10.0f * (s[1] - s[0]), s[0] * (28.0f - s[2]) - s[1], s[0] * s[1] - (8.0f / 3) * s[2]});
  };
  const auto step = [&](const ab::Array&, const ab::Array& s) {
    const ab::Array k1 = slope(s), k2 = slope(s + (step_size / 2) * k1);
    const ab::Array k3 = slope(s + (step_size / 2) * k2), k4 = slope(s + step_size * k3);
    return s + (step_size / 6) * (k1 + 2 * k2 + 2 * k3 + k4);
  };
  return ab::fori_loop(0, 100, step, start);
}

float start_of(std::int64_t i) { return 1 + 1e-5f * static_cast<float>(i); }

void systems_by_vmap(benchmark::State& state) {
  auto call = ab::jit(ab::vmap(lorenz));
  const ab::Array start =
      ab::reshape(1 + 1e-5f * ab::arange(3 * systems).astype(ab::f32), {systems, 3});
  for (auto _ : state) call(start).wait();
}

struct Point {
  float x, y, z;

  Point operator+(Point other) const { return {x + other.x, y + other.y, z + other.z}; }
  Point operator*(float by) const { return {x * by, y * by, z * by}; }
  Point slope() const { return {10 * (y - x), x * (28 - z) - y, x * y - (8.0f / 3) * z}; }
};

void systems_by_hand(benchmark::State& state) {
  std::vector<Point> ends(static_cast<std::size_t>(systems));
  for (auto _ : state) {
    for (std::int64_t i = 0; i < systems; ++i) {
      Point s = {start_of(3 * i), start_of(3 * i + 1), start_of(3 * i + 2)};
      for (int turn = 0; turn < 100; ++turn) {
        const Point k1 = s.slope(), k2 = (s + k1 * (step_size / 2)).slope();
        const Point k3 = (s + k2 * (step_size / 2)).slope(), k4 = (s + k3 * step_size).slope();
        s = s + (k1 + k2 * 2 + k3 * 2 + k4) * (step_size / 6);
      }
      ends[static_cast<std::size_t>(i)] = s;
    }
    benchmark::DoNotOptimize(ends.data());
    benchmark::ClobberMemory();
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
BENCHMARK(bodies_in_a_loop)
    ->Name("10 steps of 512 bodies/ours")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(bodies_in_calls)
    ->Name("10 steps of 512 bodies/peer: 10 calls")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(systems_by_vmap)
    ->Name("100k Lorenz systems/ours")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(systems_by_hand)
    ->Name("100k Lorenz systems/peer: the loop in C++")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(rays_by_vmap)->Name("640x480 rays/ours")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(rays_by_hand)
    ->Name("640x480 rays/peer: the loop in C++")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(squares_in_a_loop)->Name("100 steps of pow(u, 2) of 100k/ours")->UseRealTime();
BENCHMARK(squares_by_hand)
    ->Name("100 steps of pow(u, 2) of 100k/peer: the loop in C++")
    ->UseRealTime();
BENCHMARK(scan_rows)->Name("scan into ten times the rows/ours")->Arg(10'000)->UseRealTime();

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv); }
