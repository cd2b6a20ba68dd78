// Bodies that attract each other, by leapfrog steps; the energies after each.
#include "bench/peers/benchmark.h"

namespace peers {

static std::pair<ab::Array, ab::Array> simulate(ab::Array mass, ab::Array x, ab::Array v, int steps,
                                                double dt, double softening) {
  // [3, n, n]: where body j is, seen from body i.
  const auto between = [](const ab::Array& at) {
    const ab::Array axes = ab::matrix_transpose(at);
    return axes(ab::all, ab::newaxis, ab::all) - axes(ab::all, ab::all, ab::newaxis);
  };
  const auto acceleration = [&](const ab::Array& at) {
    const ab::Array apart = between(at);
    const ab::Array squared = ab::sum(apart * apart, 0) + softening * softening;
    return ab::matrix_transpose(ab::matmul(apart * ab::pow(squared, -1.5), mass));
  };
  const auto energies = [&](const ab::Array& at, const ab::Array& speed) {
    const ab::Array apart = ab::sqrt(ab::sum(ab::square(between(at)), 0));
    const ab::Array near = ab::where(apart > 0, 1 / apart, 0);
    const ab::Array kinetic = 0.5 * ab::sum(mass(ab::all, ab::newaxis) * speed * speed);
    return std::pair{kinetic, ab::sum(ab::triu(-ab::outer(mass, mass) * near, 1))};
  };
  v -= ab::mean(mass(ab::all, ab::newaxis) * v, 0) / ab::mean(mass);
  const auto first = energies(x, v);
  const auto [last, later] = ab::scan(
      [&](auto& state) {
        auto [at, speed, pull] = state;
        speed += pull * (dt / 2);
        at += speed * dt;
        pull = acceleration(at);
        speed += pull * (dt / 2);
        return std::pair{std::tuple{at, speed, pull}, energies(at, speed)};
      },
      std::tuple{x, v, acceleration(x)}, steps);
  const auto joined = [](const ab::Array& a, const ab::Array& b) {
    return ab::concat({ab::reshape(a, {1}), b});
  };
  return {joined(first.first, later.first), joined(first.second, later.second)};
}

Benchmark nbody() { return benchmark(simulate, {"mass", "x", "v", "steps", "dt", "softening"}); }

}  // namespace peers
