// Slopes of surfaces of equal density in the ocean, and the mixing along them (Griffies et al.,
// 1998).
#include "bench/peers/benchmark.h"

namespace peers {

using ab::all, ab::ellipsis, ab::newaxis, ab::range;

struct Gradients {
  ab::Array temperature, salinity;
};

struct Ocean {
  ab::Array mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, dzt, dzw, cost, cosu, k_iso;
  Gradients density;  // by temperature and by salinity
  Gradients x, y, z;  // of the tracers, at the faces of the cells
};

// All four slopes of a face, [..., 2, 2], and the sums that mixing is made of.
struct Faces {
  ab::Array slopes, sums;
};

// Differences of an axis over `distance`, where there is water; 0 at the end.
static ab::Array gradient(const ab::Array& tracer, const ab::Array& mask, const ab::Array& distance,
                          int axis) {
  std::vector<std::int64_t> none(3, 0), one(3, 0);
  one[static_cast<std::size_t>(axis)] = 1;
  return mask * ab::pad(ab::diff(tracer, axis), none, one) / distance;
}

static ab::Array density_change(const Gradients& density, const Gradients& tracer) {
  return density.temperature * tracer.temperature + density.salinity * tracer.salinity;
}

static Gradients part(const Gradients& g, const ab::Range& i, const ab::Range& j,
                      const ab::Range& k) {
  return {g.temperature(i, j, k), g.salinity(i, j, k)};
}

static ab::Array slope_of(const ab::Array& along, const ab::Array& down) {
  return -along / (ab::minimum(0.0, down) - 1e-20);
}

// How much of a slope counts: all of a gentle one, nothing of a steep one.
static ab::Array taper(const ab::Array& slope) {
  return 0.5 * (1.0 + ab::tanh((1e-3 - ab::abs(slope)) / 1e-3));
}

static ab::Array stacked(const std::vector<ab::Array>& four) {
  return ab::reshape(ab::stack(four, -1), [&] {
    std::vector<std::int64_t> sizes(four[0].shape().begin(), four[0].shape().end());
    sizes.insert(sizes.end(), {2, 2});
    return sizes;
  }());
}

// Faces between a cell and the next one along axis 0 (east) or 1 (north).
static Faces sides(const Ocean& o, int axis) {
  const ab::Range inner = range(2, -2), whole = range(0, {});
  const auto cells = [&](const auto& f, std::int64_t step) {
    const ab::Range moved = range(1 + step, step - 2);
    return axis == 0 ? part(f, moved, inner, whole) : part(f, inner, moved, whole);
  };
  const auto cells_of = [&](const ab::Array& f, std::int64_t step) {
    return cells(Gradients{f, f}, step).temperature;
  };
  // The level above, nothing above the first.
  const auto above = [](const ab::Array& f) { return ab::pad(f, {0, 0, 1}, {0, 0, -1}); };
  const ab::Array mask = cells_of(axis == 0 ? o.mask_u : o.mask_v, 0);
  const Gradients along = cells(axis == 0 ? o.x : o.y, 0);
  const ab::Array k_sum = cells_of(o.k_iso, 0) + cells_of(o.k_iso, 1);
  const ab::Array first_level = ab::arange(o.dzw.size()) == 0;
  const ab::Array mixing = ab::where(first_level, 0.5 * k_sum, 0.25 * (k_sum + above(k_sum)));

  ab::Array sums = ab::zeros_like(mixing);
  std::vector<ab::Array> slopes;
  for (std::int64_t cell : {0, 1}) {
    for (bool is_below : {false, true}) {
      const Gradients density = cells(o.density, cell), down = cells(o.z, cell);
      const ab::Array distance = is_below ? o.dzw : ab::pad(o.dzw, {1}, {-1});
      const Gradients near =
          is_below ? down : Gradients{above(down.temperature), above(down.salinity)};
      const ab::Array slope =
          slope_of(density_change(density, along), density_change(density, near));
      const ab::Array counts = taper(slope);
      sums += distance * mask * ab::maximum(50.0, mixing * counts);
      slopes.push_back(counts * slope * mask);
    }
  }
  return {stacked(slopes), sums / (4.0 * o.dzt)};
}

// Faces between a cell and the one below it, by slopes along axis 0 or 1.
static Faces bottoms(const Ocean& o, int axis) {
  const ab::Range inner = range(2, -2), levels = range(0, -1);
  const ab::Array mask = o.mask_w(inner, inner, levels), k = o.k_iso(inner, inner, levels);
  const Gradients down = part(o.z, inner, inner, levels);
  ab::Array sums = ab::zeros_like(mask);
  std::vector<ab::Array> slopes;
  for (std::int64_t face : {0, 1}) {
    const ab::Range faces = range(1 + face, face - 3);
    const ab::Array width =
        axis == 0 ? o.dxu(faces)(all, newaxis, newaxis) : (o.cosu * o.dyu)(faces)(all, newaxis);
    for (std::int64_t below : {0, 1}) {
      const ab::Range at = below == 0 ? range(0, -1) : range(1);
      const Gradients density = part(o.density, inner, inner, at);
      const Gradients along = axis == 0 ? part(o.x, faces, inner, at) : part(o.y, inner, faces, at);
      const ab::Array slope =
          slope_of(density_change(density, along), density_change(density, down));
      const ab::Array counts = taper(slope);
      sums += width * k * counts * slope * slope * mask;
      slopes.push_back(counts * slope * mask);
    }
  }
  return {stacked(slopes), sums};
}

static std::array<ab::Array, 7> mix(ab::Array mask_t, ab::Array mask_u, ab::Array mask_v,
                                    ab::Array mask_w, ab::Array dxt, ab::Array dxu, ab::Array dyt,
                                    ab::Array dyu, ab::Array dzt, ab::Array dzw, ab::Array cost,
                                    ab::Array cosu, ab::Array salt, ab::Array temp, ab::Array zt,
                                    ab::Array k_iso, ab::Array k_11, ab::Array k_22,
                                    ab::Array k_33) {
  const double rho0 = 1024.0;
  const ab::Array t = temp(ellipsis, 0), s = salt(ellipsis, 0);
  const ab::Array expansion =
      1e-5 * (t - (283.0 - 273.15)) + 1.67e-4 * (1.0 + 1.1e-8 * 9.81 * rho0 * ab::abs(zt));
  const ab::Array east = dxu(all, newaxis, newaxis) * cost(all, newaxis), north = dyu(all, newaxis);
  const Ocean ocean = {mask_u,
                       mask_v,
                       mask_w,
                       dxt,
                       dxu,
                       dyt,
                       dyu,
                       dzt,
                       dzw,
                       cost,
                       cosu,
                       k_iso,
                       {-rho0 * mask_t * expansion, 0.78e-3 * rho0 * mask_t},
                       {gradient(t, mask_u, east, 0), gradient(s, mask_u, east, 0)},
                       {gradient(t, mask_v, north, 1), gradient(s, mask_v, north, 1)},
                       {gradient(t, mask_w, dzw, 2), gradient(s, mask_w, dzw, 2)}};
  const Faces ez = sides(ocean, 0), nz = sides(ocean, 1);
  const Faces bx = bottoms(ocean, 0), by = bottoms(ocean, 1);
  const ab::Range inner = range(2, -2), outer = range(1, -2);
  const ab::Array area = 4.0 * dyt(inner) * cost(inner);
  const ab::Array bottom =
      bx.sums / (4.0 * dxt(inner)(all, newaxis, newaxis)) + by.sums / area(all, newaxis);
  return {ab::at(k_11, outer, inner).set(ez.sums),
          ab::at(k_22, inner, outer).set(nz.sums),
          ab::at(k_33, inner, inner).set(ab::pad(bottom, {0, 0, 0}, {0, 0, 1})),
          ab::pad(ez.slopes, {1, 2, 0, 0, 0}, {2, 2, 0, 0, 0}),
          ab::pad(nz.slopes, {2, 1, 0, 0, 0}, {2, 2, 0, 0, 0}),
          ab::pad(bx.slopes, {2, 2, 0, 0, 0}, {2, 2, 1, 0, 0}),
          ab::pad(by.slopes, {2, 2, 0, 0, 0}, {2, 2, 1, 0, 0})};
}

Benchmark isoneutral_mixing() {
  return benchmark(
      mix, {"mask_t", "mask_u", "mask_v", "mask_w", "dxt", "dxu", "dyt", "dyu", "dzt", "dzw",
            "cost", "cosu", "salt", "temp", "zt", "k_iso", "k_11", "k_22", "k_33"});
}

}  // namespace peers
