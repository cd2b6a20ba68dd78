// Horizontal diffusion of a weather model: a limited fourth difference.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array diffuse(ab::Array field, ab::Array coefficient) {
  using ab::all, ab::range;
  const ab::Range in = range(1, -1), before = range(0, -2), after = range(2);
  const ab::Array laplacian = 4.0 * field(in, in) - (field(after, in) + field(before, in) +
                                                     field(in, after) + field(in, before));
  const ab::Array inner = field(range(2, -2), range(2, -2));
  // The difference along an axis, none where it would go uphill.
  const auto flux = [](const ab::Array& l, const ab::Array& f, ab::Axis axis) {
    const ab::Array difference = ab::diff(l, axis);
    return ab::where(difference * ab::diff(f, axis) > 0, 0, difference);
  };
  const ab::Array x = flux(laplacian(all, in), field(in, range(2, -2)), 0);
  const ab::Array y = flux(laplacian(in), field(range(2, -2), in), 1);
  return inner - coefficient * (ab::diff(x, 0) + ab::diff(y, 1));
}

Benchmark hdiff() { return benchmark(diffuse, {"field", "coefficient"}); }

}  // namespace peers
