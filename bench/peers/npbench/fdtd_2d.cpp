// Electric and magnetic fields on a rectangle by finite differences in time.
#include "bench/peers/benchmark.h"

namespace peers {

using Fields = std::tuple<ab::Array, ab::Array, ab::Array>;

static Fields propagate(ab::Array ex, ab::Array ey, ab::Array hz, ab::Array source) {
  return ab::fori_loop(
      0, source.shape()[0],
      [&](const ab::Array& t, Fields& fields) {
        using ab::all, ab::range;
        auto [x, y, z] = fields;
        const ab::Range first = range(0, -1), rest = range(1);
        y = ab::at(y, 0).set(source(t));
        y = ab::at(y, rest).add(-0.5 * (z(rest) - z(first)));
        x = ab::at(x, all, rest).add(-0.5 * (z(all, rest) - z(all, first)));
        z = ab::at(z, first, first)
                .add(-0.7 * (x(first, rest) - x(first, first) + y(rest, first) - y(first, first)));
        return Fields{x, y, z};
      },
      Fields{ex, ey, hz});
}

Benchmark fdtd_2d() { return benchmark(propagate, {"ex", "ey", "hz", "source"}); }

}  // namespace peers
