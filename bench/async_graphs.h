// What bench_async runs: a training step, an Inception-like cell, a random graph of small kernels.
#pragma once

#include <anabranch/anabranch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

namespace ab = anabranch;

namespace mlp {

struct Params {
  ab::Array w1, b1, w2, b2, w3, b3;
};

inline Params first_params(std::int64_t inputs = 512, std::int64_t wide = 2048,
                           std::int64_t narrow = 512) {
  auto keys = ab::random::split(ab::random::key(7), 3);
  auto weights = [](ab::Array key, std::int64_t in, std::int64_t out) {
    return ab::random::normal(key, {in, out}) * (1.0f / std::sqrt(static_cast<float>(in)));
  };
  return {weights(keys[0], inputs, wide), ab::zeros({wide}),
          weights(keys[1], wide, narrow), ab::zeros({narrow}),
          weights(keys[2], narrow, 1),    ab::zeros({1})};
}

/// One step of gradient descent on the mean squared error of three layers with relu.
inline std::tuple<Params, ab::Array> step(Params p, ab::Array x, ab::Array target) {
  const ab::Array h1 = ab::relu(ab::matmul(x, p.w1) + p.b1);
  const ab::Array h2 = ab::relu(ab::matmul(h1, p.w2) + p.b2);
  const ab::Array error = ab::matmul(h2, p.w3) + p.b3 - target;
  const ab::Array loss = ab::mean(error * error);

  const ab::Array d3 = error * (2.0f / 1024);
  const ab::Array d2 = ab::where(h2 > 0.0f, ab::matmul(d3, ab::matrix_transpose(p.w3)), 0.0f);
  const ab::Array d1 = ab::where(h1 > 0.0f, ab::matmul(d2, ab::matrix_transpose(p.w2)), 0.0f);
  auto descend = [](ab::Array value, ab::Array gradient) { return value - gradient * 1e-3f; };
  return {
      Params{descend(p.w1, ab::matmul(ab::matrix_transpose(x), d1)), descend(p.b1, ab::sum(d1, 0)),
             descend(p.w2, ab::matmul(ab::matrix_transpose(h1), d2)), descend(p.b2, ab::sum(d2, 0)),
             descend(p.w3, ab::matmul(ab::matrix_transpose(h2), d3)),
             descend(p.b3, ab::sum(d3, 0))},
      loss};
}

}  // namespace mlp

namespace branchy {

/// Four branches over one input, joined: products of different depths, as in GoogLeNet's cells.
inline ab::Array cell(ab::Array x, ab::Array w) {
  auto layer = [&](ab::Array y) { return ab::relu(ab::matmul(y, w)); };
  return ab::concat({layer(x), layer(layer(x)), layer(layer(layer(x))), layer(ab::tanh(x))}, 1);
}

/// 200 results, each `step(number, a, b)` of two of the 64 before it; those that no other takes.
template <class Step>
std::vector<ab::Array> random_dag(ab::Array x, Step step) {
  std::mt19937 random(3);
  std::vector<ab::Array> made(8, x);
  std::vector<bool> is_taken(8, true);
  auto pick = [&] {
    const std::size_t window = std::min<std::size_t>(made.size(), 64);
    const std::size_t picked = made.size() - 1 - random() % window;
    is_taken[picked] = true;
    return made[picked];
  };
  for (int i = 0; i < 200; ++i) {
    const ab::Array a = pick(), b = pick();
    made.push_back(step(i, a, b));
    is_taken.push_back(false);
  }
  std::vector<ab::Array> last;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!is_taken[i]) last.push_back(made[i]);
  }
  return last;
}

/// Products of small square matrices, each a library call of its own. The factor keeps the results
/// of the order of one: denormal numbers would be slow.
inline std::vector<ab::Array> products(ab::Array x) {
  return random_dag(
      x, [](int, ab::Array a, ab::Array b) { return ab::tanh(ab::matmul(a, b) * 0.5f); });
}

/// Arithmetic around a mean: many of these become one kernel.
inline std::vector<ab::Array> means(ab::Array x) {
  return random_dag(x, [](int i, ab::Array a, ab::Array b) {
    const ab::Array mixed = ab::sin(a * 0.5f + b * (0.1f + 0.001f * static_cast<float>(i)));
    return mixed + ab::mean(mixed);
  });
}

}  // namespace branchy
