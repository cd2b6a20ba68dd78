// The Fourier transform of a vector of complex numbers.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array transform(ab::Array x) { return ab::fft::fft(x); }

Benchmark fft() { return benchmark(transform, {"x"}); }

}  // namespace peers
