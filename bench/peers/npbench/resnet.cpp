// A bottleneck block of ResNet-50 on images in NHWC, normalised over the batch, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array block(ab::Array x, ab::Array conv1, ab::Array conv2, ab::Array conv3) {
  const auto conv = [](const ab::Array& image, const ab::Array& w) {
    return ab::conv(image, w,
                    {.lhs_layout = "NHWC", .rhs_layout = "HWIO", .result_layout = "NHWC"});
  };
  const auto normalised = [](const ab::Array& y) {
    return (y - ab::mean(y, 0)) / ab::sqrt(ab::stddev(y, 0) + 1e-5);
  };
  ab::Array y = ab::pad(conv(x, conv1), {0, 1, 1, 0}, {0, 1, 1, 0});
  y = ab::relu(normalised(y));
  y = ab::relu(normalised(conv(y, conv2)));
  return ab::relu(normalised(conv(y, conv3)) + x);
}

Benchmark resnet() { return benchmark(block, {"x", "conv1", "conv2", "conv3"}); }

}  // namespace peers
