#include "bench/peers/machine.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "bench/rounds.h"

namespace peers {
namespace {

constexpr int rounds = 7;

// Units of `work` done in a second by all cores: the best of a few rounds of about 20 ms.
double best_rate(double units, const std::function<void(unsigned core, std::size_t times)>& work) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const auto seconds = [&](std::size_t times) {
    return bench::time_of([&] {
      std::vector<std::thread> threads;
      for (unsigned core = 0; core < cores; ++core) threads.emplace_back(work, core, times);
      for (std::thread& thread : threads) thread.join();
    });
  };
  std::size_t times = 1;
  while (seconds(times) < 0.02) times *= 2;
  double best = 0;
  for (int i = 0; i < rounds; ++i) {
    const double rate = units * static_cast<double>(times) * cores / seconds(times);
    best = std::max(best, rate);
  }
  return best;
}

// Past the caches, stores that do not read what they overwrite move more.
constexpr std::size_t cached = std::size_t{1} << 20;

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef __AVX512F__
  if (bytes > cached) {
    for (std::size_t i = 0; i + 64 <= bytes; i += 64)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
    _mm_sfence();
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

double copy_rate(std::size_t bytes) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t part = std::max<std::size_t>(4096, bytes / 2 / cores / 64 * 64);
  std::vector<std::vector<std::byte>> from(cores, std::vector<std::byte>(part)),
      to(cores, std::vector<std::byte>(part + 64));
  return best_rate(2.0 * static_cast<double>(part), [&](unsigned core, std::size_t times) {
    auto* aligned = reinterpret_cast<std::byte*>(
        (reinterpret_cast<std::uintptr_t>(to[core].data()) + 63) / 64 * 64);
    for (std::size_t i = 0; i < times; ++i) {
      copy_bytes(aligned, from[core].data(), part);
      asm volatile("" : : "r"(aligned) : "memory");
    }
  });
}

// Twelve chains of fused multiply-adds on whole vectors keep both units of a core busy. The
// compiler must not know that they are alike: it would compute one for all.
template <class T>
double arithmetic_rate() {
#ifdef __AVX512F__
  constexpr std::size_t width = 64;
#else
  constexpr std::size_t width = 32;
#endif
  using Vector [[gnu::vector_size(width)]] = T;
  constexpr int chains = 12, turns = 1000;
  constexpr double units = 2.0 * chains * turns * (width / sizeof(T));
  return best_rate(units, [](unsigned, std::size_t times) {
    Vector sums[chains] = {}, factor = {}, term = {};
    asm volatile("" : "+v"(factor), "+v"(term));
    for (Vector& sum : sums) asm volatile("" : "+v"(sum));
    for (std::size_t i = 0; i < times * turns; ++i) {
      for (Vector& sum : sums) sum = sum * factor + term;
      asm volatile("" : "+v"(factor));
    }
    for (Vector& sum : sums) asm volatile("" : : "v"(sum));
  });
}

}  // namespace

Machine measure_machine(std::size_t bytes) {
  return {copy_rate(bytes), arithmetic_rate<float>(), arithmetic_rate<double>()};
}

}  // namespace peers
