// A fused chain of 8 cheap f32 ops over 2^24 elements, and softmax over rows of 1,024, beside a
// copy of the same bytes with non-temporal stores and beside the same loops written by hand.
//
// Floor: both read 64 MiB and write 64 MiB, so the copy is the least time memory allows.
#include <anabranch/anabranch.h>
#include <immintrin.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

constexpr std::int64_t count = 1 << 24;
constexpr std::int64_t row = 1024;

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Floats = std::unique_ptr<float[], Free>;

Floats floats() {
  Floats memory(static_cast<float*>(std::aligned_alloc(64, count * sizeof(float))));
  for (std::int64_t i = 0; i < count; ++i) memory[i] = static_cast<float>(i % 1000) * 0.001f;
  return memory;
}

const Floats& source() {
  static const Floats memory = floats();
  return memory;
}

const Floats& target() {
  static const Floats memory = floats();
  return memory;
}

ab::Array input() {
  return ab::array(std::vector<float>(source().get(), source().get() + count), {count / row, row});
}

void traffic(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * 2 * count *
                          static_cast<std::int64_t>(sizeof(float)));
}

// One cache line past the caches.
void stream_16(float* to, const float* from) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, _mm512_loadu_ps(from));
#else
  for (int i = 0; i < 16; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#endif
}

void non_temporal_copy(benchmark::State& state) {
  const float* from = source().get();
  float* to = target().get();
  for (auto _ : state) {
#pragma omp parallel for num_threads(2) schedule(static)
    for (std::int64_t i = 0; i < count; i += 16) {
      stream_16(to + i, from + i);
    }
    benchmark::ClobberMemory();
  }
  traffic(state);
}

void chain_by_hand(benchmark::State& state) {
  const float* from = source().get();
  float* to = target().get();
  for (auto _ : state) {
#pragma omp parallel for simd num_threads(2) schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      float x = from[i];
      float y = (x * 1.5f + 0.25f) * x - 2.0f;
      float z = y * y + x;
      to[i] = (z > 0.5f ? z : 0.5f) * 0.125f;  // std::fmax would keep GCC from vectorising
    }
    benchmark::ClobberMemory();
  }
  traffic(state);
}

void chain_ours(benchmark::State& state) {
  auto chain = ab::jit([](ab::Array x) {
    ab::Array y = (x * 1.5f + 0.25f) * x - 2.0f;
    return ab::maximum(y * y + x, 0.5f) * 0.125f;
  });
  ab::Array x = input();
  chain(x).wait();
  for (auto _ : state) chain(x).wait();
  traffic(state);
}

void softmax_by_hand(benchmark::State& state) {
  const float* from = source().get();
  float* to = target().get();
  for (auto _ : state) {
#pragma omp parallel for num_threads(2) schedule(static)
    for (std::int64_t r = 0; r < count / row; ++r) {
      const float* x = from + r * row;
      float* y = to + r * row;
      float largest = x[0];
#pragma omp simd reduction(max : largest)
      for (std::int64_t i = 0; i < row; ++i) largest = x[i] > largest ? x[i] : largest;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t i = 0; i < row; ++i) {
        y[i] = expf(x[i] - largest);
        sum += y[i];
      }
      const float scale = 1 / sum;
#pragma omp simd
      for (std::int64_t i = 0; i < row; ++i) y[i] *= scale;
    }
    benchmark::ClobberMemory();
  }
  traffic(state);
}

void softmax_ours(benchmark::State& state) {
  auto softmax = ab::jit([](ab::Array x) { return ab::softmax(x); });
  ab::Array x = input();
  softmax(x).wait();
  for (auto _ : state) softmax(x).wait();
  traffic(state);
}

void layer_norm_ours(benchmark::State& state) {
  auto normalise = ab::jit([](ab::Array x, ab::Array scale, ab::Array shift) {
    return ab::layer_norm(x, scale, shift);
  });
  ab::Array x = input(), scale = ab::ones(ab::f32, {row}), shift = ab::zeros(ab::f32, {row});
  normalise(x, scale, shift).wait();
  for (auto _ : state) normalise(x, scale, shift).wait();
  traffic(state);
}

BENCHMARK(chain_ours)->Name("chain of 8/ours")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(non_temporal_copy)
    ->Name("chain of 8/peer: non-temporal copy")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(chain_by_hand)
    ->Name("chain of 8/peer: C++ loop, OpenMP")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(softmax_ours)->Name("softmax/ours")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(non_temporal_copy)
    ->Name("softmax/peer: non-temporal copy")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(softmax_by_hand)
    ->Name("softmax/peer: C++ loops with expf, OpenMP")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(layer_norm_ours)->Name("layer_norm/ours")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(non_temporal_copy)
    ->Name("layer_norm/peer: non-temporal copy")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv); }
