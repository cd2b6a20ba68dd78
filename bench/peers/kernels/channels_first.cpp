// Images from NHWC to NCHW, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array moved(ab::Array x) { return ab::permute_dims(x, {0, 3, 1, 2}); }

Benchmark channels_first() { return benchmark(moved, {"x"}); }

}  // namespace peers
