// A step of the turbulent kinetic energy of the ocean: mixing and dissipation along columns, an
// implicit system each, then diffusion and advection sideways (superbee fluxes).
#include "bench/peers/benchmark.h"

namespace peers {

using ab::all, ab::ellipsis, ab::newaxis, ab::range;

static const ab::Range inner = range(2, -2);

static ab::Array inside(const ab::Array& f) { return f(inner, inner); }

// A vector of the first or the second axis of fields.
static ab::Array along_x(const ab::Array& v) { return v(all, newaxis, newaxis); }
static ab::Array along_y(const ab::Array& v) { return v(all, newaxis); }

static ab::Array next_level(const ab::Array& f) {
  std::vector<std::int64_t> low(static_cast<std::size_t>(f.rank()), 0), high(low);
  low.back() = -1;
  high.back() = 1;
  return ab::pad(f, low, high);
}
static ab::Array last_level(const ab::Array& f) {
  std::vector<std::int64_t> low(static_cast<std::size_t>(f.rank()), 0), high(low);
  low.back() = 1;
  high.back() = -1;
  return ab::pad(f, low, high);
}

struct Column {
  ab::Array below, diagonal, above, right;  // of a tridiagonal system
};

// Solutions along the last axis, by elimination from the first level to the last and back.
static ab::Array solved(const Column& c) {
  const auto levels = [](const ab::Array& f) { return ab::moveaxis(f, 2, 0); };
  const ab::Array none = ab::zeros_like(c.right(ellipsis, 0));
  const auto [last, rows] = ab::scan(
      [](auto& state, auto& row) {
        auto& [factor, value] = state;
        auto& [below, diagonal, above, right] = row;
        const ab::Array pivot = diagonal - below * factor;
        const std::pair next{above / pivot, (right - below * value) / pivot};
        return std::pair{next, next};
      },
      std::pair{none, none},
      std::tuple{levels(c.below), levels(c.diagonal), levels(c.above), levels(c.right)});
  const auto [first, values] = ab::scan(
      [](ab::Array& above, auto& row) {
        auto& [factor, value] = row;
        const ab::Array x = value - factor * above;
        return std::pair{x, x};
      },
      none, std::pair{ab::flip(rows.first, 0), ab::flip(rows.second, 0)});
  return ab::moveaxis(ab::flip(values, 0), 0, 2);
}

// Four neighbours of each face along an axis: the cells from one before it to two after it.
struct Neighbours {
  ab::Array before, own, next, after;
};

static ab::Array limiter(const ab::Array& ratio) {
  return ab::maximum(0.0, ab::maximum(ab::minimum(1.0, 2 * ratio), ab::minimum(2.0, ratio)));
}

// `speed` through faces of cells `dx` wide, scaled by `factor`; what is carried, and where water
// is.
static ab::Array superbee(const ab::Array& speed, const ab::Array& factor,
                          const Neighbours& carried, const Neighbours& water, const ab::Array& dx) {
  const ab::Array velocity = factor * speed, courant = ab::abs(velocity / dx);
  const ab::Array ahead = (carried.after - carried.next) * water.next;
  const ab::Array here = (carried.next - carried.own) * water.own;
  const ab::Array behind = (carried.own - carried.before) * water.before;
  const ab::Array ratio =
      ab::where(speed > 0.0, behind, ahead) / ab::where(ab::abs(here) < 1e-20, 1e-20, here);
  const ab::Array limit = limiter(ratio);
  return velocity * (carried.next + carried.own) * 0.5 -
         ab::abs(velocity) * ((1.0 - limit) + courant * limit) * here * 0.5;
}

static Neighbours in_x(const ab::Array& f) {
  return {f(range(0, -3), inner), f(range(1, -2), inner), f(range(2, -1), inner),
          f(range(3), inner)};
}
static Neighbours in_y(const ab::Array& f) {
  return {f(inner, range(0, -3)), f(inner, range(1, -2)), f(inner, range(2, -1)),
          f(inner, range(3))};
}
static Neighbours in_z(const ab::Array& f) {
  const ab::Array g = inside(f);
  return {last_level(g), g, next_level(g), next_level(next_level(g))};
}

// The product of neighbours along an axis, 0 at the end.
static ab::Array both(const ab::Array& mask, std::int64_t axis) {
  std::vector<std::int64_t> low(3, 0), high(3, 0);
  low[static_cast<std::size_t>(axis)] = -1;
  high[static_cast<std::size_t>(axis)] = 1;
  return mask * ab::pad(mask, low, high);
}

static std::tuple<ab::Array, ab::Array, ab::Array> integrate(
    ab::Array u, ab::Array v, ab::Array w, ab::Array mask_u, ab::Array mask_v, ab::Array mask_w,
    ab::Array dxt, ab::Array dxu, ab::Array dyt, ab::Array dyu, ab::Array dzt, ab::Array dzw,
    ab::Array cost, ab::Array cosu, ab::Array kbot, ab::Array kappa, ab::Array mixing_length,
    ab::Array forcing, ab::Array surface_forcing, ab::Array tke, ab::Array dtke) {
  const std::int64_t levels = dzw.size();
  const ab::Array now = tke(ellipsis, 0), energy = inside(now);
  const ab::Array level = ab::arange(levels), is_top = level == levels - 1;
  const ab::Array height = ab::where(is_top, 0.5 * dzw, dzw), half_top = 0.5 * dzw[-1];

  const ab::Array bottom = ab::expand_dims(inside(kbot) - 1, 2);
  const ab::Array edge = (bottom >= 0) & (level == bottom),
                  water = (bottom >= 0) & (level >= bottom);
  const ab::Array k = inside(kappa);
  const ab::Array delta = ab::where(is_top, 0.0, 0.5 * (k + next_level(k)) / next_level(dzt));
  const ab::Array lost = 0.7 * ab::sqrt(ab::maximum(0.0, energy)) / inside(mixing_length);
  const ab::Array right =
      energy + inside(forcing) +
      ab::where(is_top, inside(surface_forcing)(ellipsis, newaxis) / half_top, 0.0);
  const ab::Array solution =
      solved({ab::where(water & !edge, -last_level(delta) / height, 0.0),
              ab::where(edge, 1.0 + delta / dzw + lost,
                        ab::where(water, 1.0 + (delta + last_level(delta)) / height + lost, 1.0)),
              ab::where(water, -delta / dzw, 0.0), ab::where(water, right, 0.0)});
  const ab::Array mixed = ab::where(water, solution, inside(tke(ellipsis, 1)));
  const ab::Array top = mixed(ellipsis, -1);
  const ab::Array correction = ab::pad(ab::where(top < 0.0, -top * half_top, 0.0), {2, 2}, {2, 2});
  const ab::Array held = ab::where(is_top, ab::maximum(0.0, mixed), mixed);

  // Differences of fluxes at both sides of the cells, over their widths.
  const ab::Array wet = inside(mask_w);
  const ab::Array width_x = along_y(cost(inner)) * along_x(dxt(inner));
  const ab::Array width_y = along_y(cost(inner) * dyt(inner));
  const ab::Array diffused_x = 2000.0 * ab::diff(now, 0)(all, inner) /
                               (along_y(cost(inner)) * along_x(dxu(range(0, -1)))) *
                               mask_u(range(0, -1), inner);
  const ab::Array diffused_y = 2000.0 * ab::diff(now, 1)(inner) / along_y(dyu(range(0, -1))) *
                               mask_v(inner, range(0, -1)) * along_y(cosu(range(0, -1)));
  const ab::Array diffusion = wet * (ab::diff(diffused_x(range(1, -1)), 0) / width_x +
                                     ab::diff(diffused_y(all, range(1, -1)), 1) / width_y);

  const ab::Range faces = range(1, -2);
  const ab::Array one = ab::ones_like(cost[0]);
  const ab::Array flux_x = superbee(u(faces, inner, all, 0), one, in_x(now), in_x(both(mask_w, 0)),
                                    along_y(cost(inner)) * along_x(dxt(faces)));
  const ab::Array flux_y = superbee(v(inner, faces, all, 0), along_y(cosu(faces)), in_y(now),
                                    in_y(both(mask_w, 1)), along_y((cost * dyt)(faces)));
  const ab::Array rising =
      superbee(w(inner, inner, all, 0), one, in_z(now), in_z(both(mask_w, 2)), dzw);
  const ab::Array flux_z = ab::where(is_top, 0.0, rising);
  const ab::Array sideways = wet * (-ab::diff(flux_x, 0) / width_x - ab::diff(flux_y, 1) / width_y);
  const ab::Array change = sideways - (flux_z - last_level(flux_z)) / height;

  const ab::Array new_dtke = ab::at(dtke, inner, inner, all, 0).set(change);
  const ab::Array later = ab::at(tke(ellipsis, 1), inner, inner).set(held + diffusion) +
                          1.6 * new_dtke(ellipsis, 0) - 0.6 * new_dtke(ellipsis, 2);
  return {ab::at(tke, ellipsis, 1).set(later), new_dtke, correction};
}

Benchmark turbulent_kinetic_energy() {
  return benchmark(integrate, {"u",
                               "v",
                               "w",
                               "mask_u",
                               "mask_v",
                               "mask_w",
                               "dxt",
                               "dxu",
                               "dyt",
                               "dyu",
                               "dzt",
                               "dzw",
                               "cost",
                               "cosu",
                               "kbot",
                               "kappa",
                               "mixing_length",
                               "forcing",
                               "surface_forcing",
                               "tke",
                               "dtke"});
}

}  // namespace peers
