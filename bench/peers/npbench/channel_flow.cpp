// Flow in a channel that a force drives, until it is steady; what leaves on the right comes in on
// the left.
#include "bench/peers/benchmark.h"

namespace peers {

using ab::all, ab::range;

struct Grid {
  double dx, dy, dt, density = 1.0, viscosity = 0.1, force = 1.0;
};

// A field between the walls, and its four neighbours; the first and last column are neighbours.
struct Stencil {
  ab::Array centre, left, right, below, above;

  explicit Stencil(const ab::Array& f)
      : centre(f(range(1, -1))),
        left(ab::roll(centre, 1, 1)),
        right(ab::roll(centre, -1, 1)),
        below(f(range(0, -2))),
        above(f(range(2))) {}
};

static ab::Array source(const Grid& grid, const Stencil& u, const Stencil& v) {
  const ab::Array ux = (u.right - u.left) / (2 * grid.dx), uy = (u.above - u.below) / (2 * grid.dy);
  const ab::Array vx = (v.right - v.left) / (2 * grid.dx), vy = (v.above - v.below) / (2 * grid.dy);
  return grid.density * ((ux + vy) / grid.dt - ux * ux - 2 * uy * vx - vy * vy);
}

static ab::Array pressure(const Grid& grid, const ab::Array& start, const ab::Array& b, int turns) {
  const double dx2 = grid.dx * grid.dx, dy2 = grid.dy * grid.dy, scale = 2 * (dx2 + dy2);
  return ab::fori_loop(
      0, turns,
      [&](const ab::Array&, ab::Array& whole) {
        const Stencil p(whole);
        const ab::Array inside =
            ((p.right + p.left) * dy2 + (p.above + p.below) * dx2 - dx2 * dy2 * b) / scale;
        // No gradient across the walls.
        return ab::concat({inside(range(0, 1)), inside, inside(range(-1))});
      },
      start);
}

static ab::Array moved(const Grid& grid, const Stencil& f, const Stencil& u, const Stencil& v) {
  return f.centre - u.centre * (grid.dt / grid.dx) * (f.centre - f.left) -
         v.centre * (grid.dt / grid.dy) * (f.centre - f.below) +
         grid.viscosity * (grid.dt / (grid.dx * grid.dx) * (f.right - 2 * f.centre + f.left) +
                           grid.dt / (grid.dy * grid.dy) * (f.above - 2 * f.centre + f.below));
}

static std::tuple<ab::Array, ab::Array, ab::Array> flow(ab::Array u, ab::Array v, ab::Array p,
                                                        int turns) {
  const Grid grid = {2.0 / static_cast<double>(u.shape()[1] - 1),
                     2.0 / static_cast<double>(u.shape()[0] - 1),
                     0.1 / static_cast<double>((u.shape()[1] - 1) * (u.shape()[0] - 1))};
  const auto walled = [](const ab::Array& inside) { return ab::pad(inside, {1, 0}, {1, 0}); };
  const auto [change, last_u, last_v, last_p] = ab::while_loop(
      [](auto& state) { return std::get<0>(state) > 0.001; },
      [&](auto& state) {
        auto& [difference, un, vn, pn] = state;
        const Stencil us(un), vs(vn);
        const ab::Array pressed = pressure(grid, pn, source(grid, us, vs), turns);
        const Stencil ps(pressed);
        const double push_x = grid.dt / (2 * grid.density * grid.dx),
                     push_y = grid.dt / (2 * grid.density * grid.dy);
        const ab::Array next_u =
            walled(moved(grid, us, us, vs) - push_x * (ps.right - ps.left) + grid.force * grid.dt);
        const ab::Array next_v = walled(moved(grid, vs, us, vs) - push_y * (ps.above - ps.below));
        return std::tuple{(ab::sum(next_u) - ab::sum(un)) / ab::sum(next_u), next_u, next_v,
                          pressed};
      },
      std::tuple{ab::scalar(1.0, ab::f64), u, v, p});
  return {last_u, last_v, last_p};
}

Benchmark channel_flow() { return benchmark(flow, {"u", "v", "p", "turns"}); }

}  // namespace peers
