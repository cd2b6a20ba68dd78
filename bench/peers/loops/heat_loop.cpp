#include "bench/peers/loop.h"

namespace peers {

struct Plate {
  std::int64_t n, steps;
  std::vector<double> start, now, next;
};

static void step(std::int64_t n, const double* x, double* y) {
#pragma omp parallel for
  for (std::int64_t i = 1; i < n - 1; ++i) {
    for (std::int64_t j = 1; j < n - 1; ++j) {
      const double* c = x + i * n + j;
      y[i * n + j] = c[0] + 0.1 * (c[-1] + c[1] + c[-n] + c[n] - 4.0 * c[0]);
    }
  }
}

Benchmark heat_loop() {
  return [](const Inputs& inputs) {
    const auto u = values<double>(inputs, "u");
    const std::int64_t n = inputs.at("u").shape()[0];
    return loops(Plate{n, whole_number(inputs, "steps"), u, u, u}, [](Plate& plate) {
      plate.now = plate.next = plate.start;
      for (std::int64_t i = 0; i < plate.steps; ++i) {
        step(plate.n, plate.now.data(), plate.next.data());
        std::swap(plate.now, plate.next);
      }
      return Outputs{borrowed(plate.now, {plate.n, plate.n})};
    });
  };
}

}  // namespace peers
