#include "bench/peers/loop.h"

namespace peers {

struct Vectors {
  std::vector<double> x, sums;
};

Benchmark prefix_sums_loop() {
  return [](const Inputs& inputs) {
    const auto x = values<double>(inputs, "x");
    return loops(Vectors{x, x}, [](Vectors& v) {
      double sum = 0;
      for (std::size_t i = 0; i < v.x.size(); ++i) v.sums[i] = sum += v.x[i];
      return Outputs{borrowed(v.sums, {v.sums.size()})};
    });
  };
}

}  // namespace peers
