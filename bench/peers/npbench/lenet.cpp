// LeNet-5 on images in NHWC: two convolutions with pools, three dense layers, f32.
#include <limits>
#include <vector>

#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array predict(ab::Array x, ab::Array conv1, ab::Array bias1, ab::Array conv2,
                         ab::Array bias2, ab::Array w1, ab::Array b1, ab::Array w2, ab::Array b2,
                         ab::Array w3, ab::Array b3) {
  // Convolution, bias, relu, and the greatest of each 2 x 2.
  const auto layer = [](const ab::Array& image, const ab::Array& w, const ab::Array& bias) {
    const ab::Array y = ab::relu(
        ab::conv(image, w, {.lhs_layout = "NHWC", .rhs_layout = "HWIO", .result_layout = "NHWC"}) +
        bias);
    const auto greatest = [](const std::vector<ab::Array>& pair) {
      return std::vector{ab::maximum(pair[0], pair[1])};
    };
    const float least = -std::numeric_limits<float>::infinity();
    return ab::reduce_window({y}, {least}, greatest, {1, 2, 2, 1}, {.strides = {1, 2, 2, 1}})[0];
  };
  x = layer(layer(x, conv1, bias1), conv2, bias2);
  x = ab::reshape(x, {x.shape()[0], -1});
  x = ab::relu(ab::dense(x, w1, b1));
  x = ab::relu(ab::dense(x, w2, b2));
  return ab::dense(x, w3, b3);
}

Benchmark lenet() {
  return benchmark(predict,
                   {"x", "conv1", "bias1", "conv2", "bias2", "w1", "b1", "w2", "b2", "w3", "b3"});
}

}  // namespace peers
