// A training step of a model of GPT-2's shape with 124M parameters: value_and_grad and Adam in one
// compiled function, batch 4, 64 tokens, f32.
//
//   bench_gpt2 [STEPS]        prints the median of the steps; bench/gpt2_peers.py runs it beside
//                             PyTorch and JAX
//
// Floor: 6 x 124M x 256 tokens are 191 GFLOP of products; Adam reads and writes 28 bytes per
// parameter, 3.5 GB.
#include <anabranch/anabranch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace ab = anabranch;

namespace {

constexpr std::int64_t words = 50257, width = 768, depth = 12, heads = 12, tokens = 64, batch = 4;

using Affine = std::pair<ab::Array, ab::Array>;
struct Gpt {
  ab::Array words, places;
  std::vector<std::array<Affine, 6>> layers;
  Affine norm;
};
using State = std::pair<Gpt, ab::optim::AdamState<Gpt>>;

Gpt first_model() {
  std::uint64_t seed = 0;
  const auto dense = [&](std::int64_t in, std::int64_t out) {
    return Affine{0.02f * ab::random::normal(ab::random::key(seed++), {in, out}), ab::zeros({out})};
  };
  const Affine norm = {ab::ones({width}), ab::zeros({width})};
  Gpt model = {dense(words, width).first, dense(1024, width).first, {}, norm};
  for (int i = 0; i < depth; ++i) {
    model.layers.push_back({{norm, dense(width, 3 * width), dense(width, width), norm,
                             dense(width, 4 * width), dense(4 * width, width)}});
  }
  return model;
}

ab::Array logits(const Gpt& model, const ab::Array& ids) {
  const auto norm = [](const ab::Array& x, const Affine& a) {
    return ab::layer_norm(x, a.first, a.second);
  };
  const auto dense = [](const ab::Array& x, const Affine& a) {
    return ab::dense(x, a.first, a.second);
  };
  ab::Array x = ab::embedding(model.words, ids) + model.places(ab::range(0, tokens));
  for (const auto& [norm_1, qkv, out, norm_2, up, down] : model.layers) {
    const auto p = ab::split(dense(norm(x, norm_1), qkv), 3, -1);
    x = x + dense(ab::attention(p[0], p[1], p[2], {.heads = heads, .causal = true}), out);
    x = x + dense(ab::gelu(dense(norm(x, norm_2), up)), down);
  }
  return ab::matmul(norm(x, model.norm), ab::matrix_transpose(model.words));
}

std::pair<State, ab::Array> step(const State& state, const ab::Array& seen, const ab::Array& next) {
  const auto loss = [](const Gpt& model, const ab::Array& ids, const ab::Array& targets) {
    return ab::cross_entropy_loss(logits(model, ids), targets);
  };
  const auto [value, gradient] = ab::value_and_grad(loss)(state.first, seen, next);
  return {ab::optim::adam(state.first, gradient, state.second, {.learning_rate = 1e-4}), value};
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 5;
  State state = {first_model(), ab::optim::adam_init(first_model())};
  const ab::Array text =
      ab::random::randint(ab::random::key(1), {batch, tokens + 1}, 0, words, ab::i64);
  const ab::Array seen = text(ab::all, ab::range(0, tokens)),
                  next = text(ab::all, ab::range(1, tokens + 1));
  const auto train = ab::jit(step);
  const auto compiling = std::chrono::steady_clock::now();
  auto run = [&] {
    auto [after, loss] = train(ab::donate(state), seen, next);
    state = std::move(after);
    ab::wait_all();
    return loss.item<float>();
  };
  run();
  std::printf("first call %.1f s\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - compiling).count());
  std::vector<double> times;
  float loss = 0;
  for (int i = 0; i < steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    loss = run();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("anabranch %.3f s a step, loss %.4f\n", times[times.size() / 2],
              static_cast<double>(loss));
}
