// Inline math beside libmvec and SLEEF called from hand-written AVX-512 loops: ns per element, over
// arrays that stay in the first-level cache; and compiled chains of exponentials on two threads,
// over arrays that stay in the second-level caches and over longer ones.
#include <anabranch/anabranch.h>
#include <benchmark/benchmark.h>
#include <immintrin.h>
#include <sleef.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/compare.h"
#include "codegen/cpu/cpu_model.h"
#include "tests/support/math_jit.h"

#define ANABRANCH_LIBMVEC(name)                  \
  extern "C" __m512 _ZGVeN16v_##name##f(__m512); \
  extern "C" __m512d _ZGVeN8v_##name(__m512d);
#define ANABRANCH_LIBMVEC_2(name)                         \
  extern "C" __m512 _ZGVeN16vv_##name##f(__m512, __m512); \
  extern "C" __m512d _ZGVeN8vv_##name(__m512d, __m512d);
ANABRANCH_LIBMVEC(cbrt)
ANABRANCH_LIBMVEC(exp)
ANABRANCH_LIBMVEC(expm1)
ANABRANCH_LIBMVEC(log)
ANABRANCH_LIBMVEC(log1p)
ANABRANCH_LIBMVEC(sin)
ANABRANCH_LIBMVEC(cos)
ANABRANCH_LIBMVEC(tan)
ANABRANCH_LIBMVEC(asin)
ANABRANCH_LIBMVEC(acos)
ANABRANCH_LIBMVEC(atan)
ANABRANCH_LIBMVEC(sinh)
ANABRANCH_LIBMVEC(cosh)
ANABRANCH_LIBMVEC(tanh)
ANABRANCH_LIBMVEC(asinh)
ANABRANCH_LIBMVEC(acosh)
ANABRANCH_LIBMVEC(atanh)
ANABRANCH_LIBMVEC(erf)
ANABRANCH_LIBMVEC_2(pow)
ANABRANCH_LIBMVEC_2(atan2)

namespace {

using anabranch::Op;

constexpr std::int64_t count = 2048;

__m512 load(const float* p) { return _mm512_loadu_ps(p); }
__m512d load(const double* p) { return _mm512_loadu_pd(p); }
void store(float* p, __m512 x) { _mm512_storeu_ps(p, x); }
void store(double* p, __m512d x) { _mm512_storeu_pd(p, x); }

template <class T>
using Loop = void (*)(const T* a, const T* b, T* out);

// The hand-written loop around one vector function.
template <auto function, class T>
void loop(const T* a, [[maybe_unused]] const T* b, T* out) {
  for (std::int64_t i = 0; i < count; i += 64 / sizeof(T)) {
    if constexpr (requires { function(load(a)); }) {
      store(out + i, function(load(a + i)));
    } else {
      store(out + i, function(load(a + i), load(b + i)));
    }
  }
}

template <class T>
struct Arrays {
  std::vector<T> a, b, out;

  Arrays(double low, double high) : a(count), b(count), out(count) {
    std::mt19937 random(1);
    std::uniform_real_distribution<T> first(static_cast<T>(low), static_cast<T>(high)),
        second(-3, 3);
    for (T& x : a) x = first(random);
    for (T& x : b) x = second(random);
  }
};

template <class T, class Run>
void add(const std::string& title, double low, double high, Run run) {
  auto arrays = std::make_shared<Arrays<T>>(low, high);
  benchmark::RegisterBenchmark(title.c_str(), [arrays, run](benchmark::State& state) {
    // One iteration is one element: times print as ns per element.
    while (state.KeepRunningBatch(count)) {
      run(arrays->a.data(), arrays->b.data(), arrays->out.data());
      benchmark::ClobberMemory();
    }
  })->MinTime(0.02);
}

template <class T>
void compare(Op op, double low, double high, Loop<T> libmvec, Loop<T> sleef) {
  const std::string title = std::string(name(op)) + (sizeof(T) == 4 ? " f32" : " f64");
  const bool fast_root = anabranch::cpu::is_zen(llvm::sys::getHostCPUName());
  auto ours = std::make_shared<anabranch::test::MathLoop<T>>(op, 64 / sizeof(T), true, fast_root);
  add<T>(title + "/ours", low, high,
         [ours](const T* a, const T* b, T* out) { (*ours)(a, b, out, count); });
  if (libmvec) add<T>(title + "/peer, libmvec", low, high, libmvec);
  if (sleef) add<T>(title + "/peer, SLEEF u10", low, high, sleef);
}

#define COMPARE(op, low, high, mvec, lanes, sleef)                            \
  compare<float>(Op::op, low, high, loop<_ZGVeN16##lanes##_##mvec##f, float>, \
                 loop<Sleef_##sleef##f16_u10avx512f, float>);                 \
  compare<double>(Op::op, low, high, loop<_ZGVeN8##lanes##_##mvec, double>,   \
                  loop<Sleef_##sleef##d8_u10avx512f, double>)

void register_all() {
  COMPARE(exponential, -20, 20, exp, v, exp);
  COMPARE(exponential_minus_one, -5, 5, expm1, v, expm1);
  COMPARE(log, 1e-3, 1e3, log, v, log);
  COMPARE(log_plus_one, -0.9, 10, log1p, v, log1p);
  COMPARE(sine, -30, 30, sin, v, sin);
  COMPARE(cosine, -30, 30, cos, v, cos);
  COMPARE(tan, -30, 30, tan, v, tan);
  COMPARE(asin, -1, 1, asin, v, asin);
  COMPARE(acos, -1, 1, acos, v, acos);
  COMPARE(atan, -10, 10, atan, v, atan);
  COMPARE(sinh, -10, 10, sinh, v, sinh);
  COMPARE(cosh, -10, 10, cosh, v, cosh);
  COMPARE(tanh, -4, 4, tanh, v, tanh);
  COMPARE(asinh, -10, 10, asinh, v, asinh);
  COMPARE(acosh, 1, 20, acosh, v, acosh);
  COMPARE(atanh, -0.99, 0.99, atanh, v, atanh);
  COMPARE(erf, -4, 4, erf, v, erf);
  COMPARE(cbrt, -100, 100, cbrt, v, cbrt);
  COMPARE(power, 0.1, 10, pow, vv, pow);
  COMPARE(atan2, -10, 10, atan2, vv, atan2);
  // Of these there is no peer.
  for (Op op : {Op::logistic, Op::rsqrt, Op::erf_inv}) {
    compare<float>(op, 0, 1, nullptr, nullptr);
    compare<double>(op, 0, 1, nullptr, nullptr);
  }
}

// --- chains

template <auto exponential>
void chain_by_hand(const float* in, float* out, std::int64_t size) {
  const __m512 factor = _mm512_set1_ps(-0.5f);
#pragma omp parallel for num_threads(2) schedule(static)
  for (std::int64_t i = 0; i < size; i += 16) {
    const __m512 inner = exponential(_mm512_mul_ps(load(in + i), factor));
    store(out + i, exponential(_mm512_mul_ps(inner, factor)));
  }
}

void register_chains() {
  namespace ab = anabranch;
  for (auto [size, title] : {std::pair{std::int64_t{1} << 17, "exp chain of 2^17"},
                             std::pair{std::int64_t{1} << 24, "exp chain of 2^24"}}) {
    auto add_loop = [size = size, title = title](const std::string& who, auto run) {
      benchmark::RegisterBenchmark((title + who).c_str(),
                                   [size, run](benchmark::State& state) {
                                     const auto bytes =
                                         static_cast<std::size_t>(size) * sizeof(float);
                                     auto* in = static_cast<float*>(std::aligned_alloc(64, bytes));
                                     auto* out = static_cast<float*>(std::aligned_alloc(64, bytes));
                                     for (std::int64_t i = 0; i < size; ++i)
                                       in[i] = static_cast<float>(i % 1000) * 0.01f - 5;
                                     for (auto _ : state) {
                                       run(in, out, size);
                                       benchmark::ClobberMemory();
                                     }
                                     std::free(in);
                                     std::free(out);
                                   })
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    };
    benchmark::RegisterBenchmark(
        (std::string(title) + "/ours").c_str(),
        [size = size](benchmark::State& state) {
          auto chain = ab::jit([](ab::Array x) { return ab::exp(ab::exp(x * -0.5f) * -0.5f); });
          std::vector<float> values(static_cast<std::size_t>(size));
          for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(i % 1000) * 0.01f - 5;
          }
          ab::Array x = ab::array(values, {size});
          chain(x).wait();
          for (auto _ : state) chain(x).wait();
        })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
    add_loop("/peer: libmvec, OpenMP", chain_by_hand<_ZGVeN16v_expf>);
    add_loop("/peer: SLEEF u10, OpenMP", chain_by_hand<Sleef_expf16_u10avx512f>);
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  register_chains();
  return bench::run(argc, argv);
}
