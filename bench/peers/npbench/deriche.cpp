// Deriche's edge detector: recursive filters along rows and columns, forwards and backwards.
#include <cmath>

#include "bench/peers/benchmark.h"

namespace peers {

struct Filter {
  double now, before, ahead, beyond, last, last_but_one;
};

// Along the first axis: y[j] = input[j] + b1 y[j - 1] + b2 y[j - 2].
static ab::Array recursive(const Filter& filter, const ab::Array& input) {
  const ab::Array none = ab::zeros_like(input[0]);
  return ab::scan(
             [&](auto& state, ab::Array& x) {
               auto& [last, last_but_one] = state;
               const ab::Array y = x + filter.last * last + filter.last_but_one * last_but_one;
               return std::pair{std::pair{y, last}, y};
             },
             std::pair{none, none}, input)
      .second;
}

// Both directions along the first axis, summed.
static ab::Array filtered(const Filter& filter, const ab::Array& x) {
  const auto shifted = [&](std::int64_t by) { return ab::pad(x, {by, 0}, {-by, 0}); };
  const ab::Array forward = recursive(filter, filter.now * x + filter.before * shifted(1));
  const ab::Array behind = filter.ahead * shifted(-1) + filter.beyond * shifted(-2);
  return forward + ab::flip(recursive(filter, ab::flip(behind, 0)), 0);
}

static ab::Array edges(ab::Array image) {
  const double alpha = 0.25, e = std::exp(-alpha);
  const double k = (1 - e) * (1 - e) / (1 + alpha * e - std::exp(2 * alpha));
  const Filter filter = {k,          k * e * (alpha - 1), k * e * (alpha + 1),
                         -k * e * e, std::pow(2, -alpha), -e * e};
  const ab::Array rows = filtered(filter, ab::matrix_transpose(image));
  return filtered(filter, ab::matrix_transpose(rows));
}

Benchmark deriche() { return benchmark(edges, {"image"}); }

}  // namespace peers
