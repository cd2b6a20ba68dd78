#include "bench/peers/loop.h"

namespace peers {

struct Clusters {
  std::int64_t points, axes, centres, rounds;
  std::vector<double> where, start, middle;
  std::vector<std::int64_t> ids;
};

static void assign(Clusters& c) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < c.points; ++i) {
    double best = 0;
    for (std::int64_t k = 0; k < c.centres; ++k) {
      double sum = 0;
      for (std::int64_t a = 0; a < c.axes; ++a) {
        const double apart = c.where[i * c.axes + a] - c.middle[k * c.axes + a];
        sum += apart * apart;
      }
      if (k == 0 || sum < best) {
        best = sum;
        c.ids[i] = k;
      }
    }
  }
}

static void move(Clusters& c) {
  std::vector<double> sums(c.middle.size()), counts(c.centres);
  for (std::int64_t i = 0; i < c.points; ++i) {
    counts[c.ids[i]] += 1;
    for (std::int64_t a = 0; a < c.axes; ++a)
      sums[c.ids[i] * c.axes + a] += c.where[i * c.axes + a];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) c.middle[i] = sums[i] / counts[i / c.axes];
}

Benchmark k_means_loop() {
  return [](const Inputs& inputs) {
    const ab::Shape& points = inputs.at("points").shape();
    const auto start = values<double>(inputs, "centres");
    Clusters clusters{points[0],
                      points[1],
                      inputs.at("centres").shape()[0],
                      whole_number(inputs, "rounds"),
                      values<double>(inputs, "points"),
                      start,
                      start,
                      std::vector<std::int64_t>(points[0])};
    return loops(clusters, [](Clusters& c) {
      c.middle = c.start;
      for (std::int64_t i = 0; i < c.rounds; ++i) {
        assign(c);
        move(c);
      }
      assign(c);
      return Outputs{borrowed(c.middle, {c.centres, c.axes}), borrowed(c.ids, {c.points})};
    });
  };
}

}  // namespace peers
