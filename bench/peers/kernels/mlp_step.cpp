// A step of gradient descent of two dense layers with relu between, on a batch, f32.
#include <array>

#include "bench/peers/benchmark.h"

namespace peers {

using Layers = std::array<ab::Array, 4>;

static Layers step(ab::Array x, ab::Array labels, ab::Array w1, ab::Array b1, ab::Array w2,
                   ab::Array b2) {
  const auto loss = [&](const Layers& layers) {
    const ab::Array hidden = ab::relu(ab::dense(x, layers[0], layers[1]));
    return ab::cross_entropy_loss(ab::dense(hidden, layers[2], layers[3]), labels);
  };
  Layers layers = {w1, b1, w2, b2};
  const Layers gradients = ab::grad(loss)(layers);
  for (int i = 0; i < 4; ++i) layers[i] = layers[i] - 0.1f * gradients[i];
  return layers;
}

Benchmark mlp_step() { return benchmark(step, {"x", "labels", "w1", "b1", "w2", "b2"}); }

}  // namespace peers
