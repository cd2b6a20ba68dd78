// Many small matrices, as of robotics, graphics and filters: a factorisation by a library's call
// for each takes longer than its arithmetic.
//
// Floor: a copy of the same bytes. Peers: the formulas in plain C++, on one thread.
#include <anabranch/anabranch.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

constexpr std::size_t count = 100'000;

/// Random ones, that have an inverse.
std::vector<float> matrices(std::size_t size) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count * size * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = i % (size * size);
    values[i] = uniform(random) + (place / size == place % size ? 3.f : 0.f);
  }
  return values;
}

ab::Array array(std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  return ab::array(matrices(size), {static_cast<std::int64_t>(count), n, n});
}

using Formula = std::function<void(const float* a, float* result)>;

void add(const std::string& name, std::size_t size, std::size_t written,
         std::function<ab::Array(ab::Array)> ours, Formula by_hand) {
  const std::string title = name + ", " + std::to_string(size) + " x " + std::to_string(size) + "/";
  benchmark::RegisterBenchmark((title + "ours").c_str(), [=](benchmark::State& state) {
    auto call = ab::jit(ours);
    const ab::Array a = array(size);
    for (auto _ : state) call(a).wait();
  })->UseRealTime();
  if (!by_hand) return;
  benchmark::RegisterBenchmark((title + "peer: the formula in C++").c_str(),
                               [=](benchmark::State& state) {
                                 const std::vector<float> a = matrices(size);
                                 std::vector<float> result(count * written);
                                 for (auto _ : state) {
                                   for (std::size_t i = 0; i < count; ++i) {
                                     by_hand(&a[i * size * size], &result[i * written]);
                                   }
                                   benchmark::ClobberMemory();
                                 }
                               })
      ->UseRealTime();
}

float determinant(const float* a) {
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
         a[2] * (a[3] * a[7] - a[4] * a[6]);
}

void inverse(const float* a, float* result) {
  const float scale = 1 / determinant(a);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int p = (j + 1) % 3, q = (j + 2) % 3, r = (i + 1) % 3, s = (i + 2) % 3;
      result[3 * i + j] = (a[3 * p + r] * a[3 * q + s] - a[3 * p + s] * a[3 * q + r]) * scale;
    }
  }
}

// Of A A^T.
void cholesky(const float* a, float* result) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += a[3 * i + k] * a[3 * j + k];
      for (int k = 0; k < j; ++k) sum -= result[3 * i + k] * result[3 * j + k];
      result[3 * i + j] = j > i ? 0 : i == j ? std::sqrt(sum) : sum / result[3 * j + j];
    }
  }
}

// With a column of ones.
void solve(const float* given, float* result) {
  float a[3][4];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) a[i][j] = j < 3 ? given[3 * i + j] : 1;
  }
  for (int k = 0; k < 3; ++k) {
    int best = k;
    for (int i = k + 1; i < 3; ++i) {
      if (std::fabs(a[i][k]) > std::fabs(a[best][k])) best = i;
    }
    if (best != k) std::swap(a[k], a[best]);
    for (int i = k + 1; i < 3; ++i) {
      const float factor = a[i][k] / a[k][k];
      for (int j = k; j < 4; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  for (int k = 2; k >= 0; --k) {
    float sum = a[k][3];
    for (int j = k + 1; j < 3; ++j) sum -= a[k][j] * result[j];
    result[k] = sum / a[k][k];
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto inverse_of = [](ab::Array a) { return ab::linalg::inv(a); };
  add("inverse", 3, 9, inverse_of, inverse);
  add("inverse", 4, 16, inverse_of, nullptr);
  add(
      "determinant", 3, 1, [](ab::Array a) { return ab::linalg::det(a); },
      [](const float* a, float* result) { *result = determinant(a); });
  add(
      "Cholesky factor of A A^T", 3, 9,
      [](ab::Array a) { return ab::linalg::cholesky(ab::matmul(a, ab::matrix_transpose(a))); },
      cholesky);
  add(
      "solution", 3, 3,
      [](ab::Array a) {
        return ab::linalg::solve(a, ab::ones({static_cast<std::int64_t>(count), 3, 1}));
      },
      solve);
  return bench::run(argc, argv);
}
