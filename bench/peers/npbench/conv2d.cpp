// A convolution of images in NHWC, with a bias, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array convolve(ab::Array x, ab::Array w, ab::Array bias) {
  return ab::conv(x, w, {.lhs_layout = "NHWC", .rhs_layout = "HWIO", .result_layout = "NHWC"}) +
         bias;
}

Benchmark conv2d() { return benchmark(convolve, {"x", "w", "bias"}); }

}  // namespace peers
