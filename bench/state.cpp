// An equation of state as of sea water: quotients of polynomials in three arrays, some 700 ops on
// 2^20 f32 elements, beside the same formula as a C++ loop over vectors.
//
// Floor: 12 MiB are read and 8 MiB written, and 336 multiply-adds are done for each element.
#include <anabranch/anabranch.h>
#include <immintrin.h>

#include <tuple>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

constexpr std::int64_t count = 1 << 20;
constexpr std::int64_t lanes = 16;

// GCC leaves a loop over floats with so much in it scalar.
struct Floats {
  __m512 lanes;

  friend Floats operator*(Floats a, Floats b) { return {a.lanes * b.lanes}; }
  friend Floats operator*(Floats a, float b) { return {a.lanes * b}; }
  friend Floats operator+(Floats a, Floats b) { return {a.lanes + b.lanes}; }
  friend Floats operator+(Floats a, float b) { return {a.lanes + b}; }
  friend Floats operator/(Floats a, Floats b) { return {a.lanes / b.lanes}; }
};
constexpr int degree = 4;
constexpr int quotients = 2;

// Numbers of no meaning, as many as there are terms.
constexpr float coefficient(int polynomial, int term) {
  return 0.5f + 0.001f * static_cast<float>((polynomial * 377 + term * 131) % 499);
}

template <class T>
struct Pair {
  T first, second;
};

// A polynomial in each of x, t and p, by Horner's scheme, without loops, which GCC would leave
// inside the loop over elements. Its terms are those from `first` on.
constexpr int terms_in_p = degree + 1;
constexpr int terms_in_t = 1 + degree * terms_in_p;

template <int number, int first, int power, class T>
[[gnu::always_inline]] inline T in_p(const T& p) {
  if constexpr (power == 1) {
    return p * coefficient(number, first) + coefficient(number, first + 1);
  } else {
    return in_p<number, first, power - 1>(p) * p + coefficient(number, first + power);
  }
}

template <int number, int first, int power, class T>
[[gnu::always_inline]] inline T in_t(const T& t, const T& p) {
  const T rest = in_p<number, first + 1 + (power - 1) * terms_in_p, degree>(p);
  if constexpr (power == 1) {
    return t * coefficient(number, first) + rest;
  } else {
    return in_t<number, first, power - 1>(t, p) * t + rest;
  }
}

template <int number, int power, class T>
[[gnu::always_inline]] inline T polynomial(const T& x, const T& t, const T& p) {
  const T rest = in_t<number, 1 + (power - 1) * terms_in_t, degree>(t, p);
  if constexpr (power == 1) {
    return x * coefficient(number, 0) + rest;
  } else {
    return polynomial<number, power - 1>(x, t, p) * x + rest;
  }
}

template <class T>
Pair<T> state_of(const T& root, const T& t, const T& p) {
  static_assert(quotients == 2);
  return {polynomial<0, degree>(root, t, p) / polynomial<1, degree>(root, t, p),
          polynomial<2, degree>(root, t, p) / polynomial<3, degree>(root, t, p)};
}

std::vector<float> numbers(int seed) {
  std::vector<float> values(count);
  for (std::int64_t i = 0; i < count; ++i) {
    values[static_cast<std::size_t>(i)] = 0.001f * static_cast<float>((i + seed) % 997);
  }
  return values;
}

void work(benchmark::State& state) { state.SetItemsProcessed(state.iterations() * count); }

void by_hand(benchmark::State& state) {
  const std::vector<float> s = numbers(1), t = numbers(2), p = numbers(3);
  std::vector<float> density(count), expansion(count);
  for (auto _ : state) {
#pragma omp parallel for num_threads(2) schedule(static)
    for (std::int64_t i = 0; i < count; i += lanes) {
      const auto at = static_cast<std::size_t>(i);
      const Floats root = {_mm512_maskz_sqrt_ps(0xffff, _mm512_loadu_ps(&s[at]))};
      const Floats at_t = {_mm512_loadu_ps(&t[at])}, at_p = {_mm512_loadu_ps(&p[at])};
      const Pair<Floats> result = state_of(root, at_t, at_p);
      _mm512_storeu_ps(&density[at], result.first.lanes);
      _mm512_storeu_ps(&expansion[at], result.second.lanes);
    }
    benchmark::ClobberMemory();
  }
  work(state);
}

void ours(benchmark::State& state) {
  auto equation = ab::jit([](ab::Array s, ab::Array t, ab::Array p) {
    auto [density, expansion] = state_of(ab::sqrt(s), t, p);
    return std::tuple{density, expansion};
  });
  const ab::Array s = ab::array(numbers(1)), t = ab::array(numbers(2)), p = ab::array(numbers(3));
  auto run = [&] {
    auto [density, expansion] = equation(s, t, p);
    density.wait();
    expansion.wait();
  };
  run();
  for (auto _ : state) run();
  work(state);
}

BENCHMARK(ours)->Name("equation of state/ours")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(by_hand)
    ->Name("equation of state/peer: C++ with vectors, OpenMP")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv); }
