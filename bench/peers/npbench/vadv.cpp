// Vertical advection of a weather model: a tridiagonal system per column, the last axis.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array advect(ab::Array utens_stage, ab::Array u_stage, ab::Array wcon, ab::Array u_pos,
                        ab::Array utens, double dtr) {
  using ab::all, ab::ellipsis, ab::range;
  const ab::Array wind = 0.25 * (wcon(range(1)) + wcon(range(0, -1)));
  // The levels below and above, none past the ends.
  const auto padded = [](const ab::Array& x, std::int64_t low, std::int64_t high) {
    return ab::pad(x, {0, 0, low}, {0, 0, high});
  };
  const ab::Array above = padded(wind(ellipsis, range(1)), 0, 1);
  const ab::Array below = -padded(wind(ellipsis, range(1)), 1, 0);
  const ab::Array change = ab::diff(u_stage, 2);
  const ab::Array correction = 0.5 * (below * padded(change, 1, 0) - above * padded(change, 0, 1));
  const ab::Array a = 0.5 * below, c = 0.5 * above, b = dtr - a - c;
  const ab::Array d = dtr * u_pos + utens + utens_stage + correction;

  const auto levels = [](const ab::Array& x) { return ab::moveaxis(x, 2, 0); };
  const ab::Array none = ab::zeros_like(u_pos(ellipsis, 0));
  const auto [last, swept] = ab::scan(
      [](auto& state, auto& row) {
        auto& [c_below, d_below] = state;
        auto& [ak, bk, ck, dk] = row;
        const ab::Array scale = 1.0 / (bk - c_below * ak);
        const std::pair next{ck * scale, (dk - d_below * ak) * scale};
        return std::pair{next, next};
      },
      std::pair{none, none}, std::tuple{levels(a), levels(b), levels(c), levels(d)});
  const auto [end, solution] = ab::scan(
      [](ab::Array& x_above, auto& row) {
        auto& [ck, dk] = row;
        const ab::Array x = dk - ck * x_above;
        return std::pair{x, x};
      },
      none, std::pair{ab::flip(swept.first, 0), ab::flip(swept.second, 0)});
  return dtr * (ab::moveaxis(ab::flip(solution, 0), 0, 2) - u_pos);
}

Benchmark vadv() {
  return benchmark(advect, {"utens_stage", "u_stage", "wcon", "u_pos", "utens", "dtr"});
}

}  // namespace peers
