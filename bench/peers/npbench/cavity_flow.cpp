// Flow in a square whose lid moves: steps of velocity, each with turns of Poisson's equation for
// the pressure.
#include "bench/peers/benchmark.h"

namespace peers {

using ab::all, ab::range;

static const ab::Range in = range(1, -1), low = range(0, -2), high = range(2);

struct Grid {
  double dx, dy, dt, density = 1.0, viscosity = 0.1;
};

// Differences across two cells along the last and the first axis, of the inside.
static ab::Array across(const ab::Array& f) { return f(in, high) - f(in, low); }
static ab::Array along(const ab::Array& f) { return f(high, in) - f(low, in); }

static ab::Array source(const Grid& grid, const ab::Array& u, const ab::Array& v) {
  const ab::Array ux = across(u) / (2 * grid.dx), uy = along(u) / (2 * grid.dy);
  const ab::Array vx = across(v) / (2 * grid.dx), vy = along(v) / (2 * grid.dy);
  return grid.density * ((ux + vy) / grid.dt - ux * ux - 2 * uy * vx - vy * vy);
}

static ab::Array pressure(const Grid& grid, const ab::Array& start, const ab::Array& b, int turns) {
  const double dx2 = grid.dx * grid.dx, dy2 = grid.dy * grid.dy, scale = 2 * (dx2 + dy2);
  return ab::fori_loop(
      0, turns,
      [&](const ab::Array&, ab::Array& p) {
        const ab::Array inside =
            ((p(in, high) + p(in, low)) * dy2 + (p(high, in) + p(low, in)) * dx2 - dx2 * dy2 * b) /
            scale;
        ab::Array next = ab::at(p, in, in).set(inside);
        next = ab::at(next, all, -1).set(next(all, -2));
        next = ab::at(next, 0).set(next(1));
        next = ab::at(next, all, 0).set(next(all, 1));
        return ab::at(next, -1).set(0.0);
      },
      start);
}

// The inside of velocity `f` a step later, but for the pressure.
static ab::Array moved(const Grid& grid, const ab::Array& f, const ab::Array& u,
                       const ab::Array& v) {
  const ab::Array centre = f(in, in);
  return centre - u(in, in) * (grid.dt / grid.dx) * (centre - f(in, low)) -
         v(in, in) * (grid.dt / grid.dy) * (centre - f(low, in)) +
         grid.viscosity * (grid.dt / (grid.dx * grid.dx) * (f(in, high) - 2 * centre + f(in, low)) +
                           grid.dt / (grid.dy * grid.dy) * (f(high, in) - 2 * centre + f(low, in)));
}

static std::tuple<ab::Array, ab::Array, ab::Array> flow(ab::Array u, ab::Array v, ab::Array p,
                                                        int steps, int turns) {
  const Grid grid = {2.0 / static_cast<double>(u.shape()[1] - 1),
                     2.0 / static_cast<double>(u.shape()[0] - 1),
                     0.1 / static_cast<double>((u.shape()[1] - 1) * (u.shape()[0] - 1))};
  return ab::fori_loop(
      0, steps,
      [&](const ab::Array&, auto& state) {
        auto& [un, vn, pn] = state;
        const ab::Array pressed = pressure(grid, pn, source(grid, un, vn), turns);
        const double push_x = grid.dt / (2 * grid.density * grid.dx),
                     push_y = grid.dt / (2 * grid.density * grid.dy);
        const ab::Array inner_u = moved(grid, un, un, vn) - push_x * across(pressed);
        const ab::Array inner_v = moved(grid, vn, un, vn) - push_y * along(pressed);
        const ab::Array walled_u = ab::pad(inner_u, {1, 1}, {1, 1});
        return std::tuple{ab::at(walled_u, -1).set(1.0), ab::pad(inner_v, {1, 1}, {1, 1}), pressed};
      },
      std::tuple{u, v, p});
}

Benchmark cavity_flow() { return benchmark(flow, {"u", "v", "p", "steps", "turns"}); }

}  // namespace peers
