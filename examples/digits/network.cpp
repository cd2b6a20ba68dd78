#include "network.h"

#include <cmath>

namespace {

ab::Array hidden_layer(const Params& p, ab::Array images) {
  return ab::relu(ab::matmul(images, p.w1) + p.b1);
}

ab::Array transposed(ab::Array matrix) { return ab::matrix_transpose(matrix); }

}  // namespace

Params first_params(std::int64_t hidden) {
  auto keys = ab::random::split(ab::random::key(7));
  return {ab::random::normal(keys[0], {64, hidden}) * std::sqrt(2.0f / 64),
          ab::zeros(ab::f32, {hidden}),
          ab::random::normal(keys[1], {hidden, 10}) * std::sqrt(2.0f / static_cast<float>(hidden)),
          ab::zeros(ab::f32, {10})};
}

ab::Array predict(Params p, ab::Array images) {
  return ab::argmax(ab::matmul(hidden_layer(p, images), p.w2) + p.b2, -1);
}

std::tuple<Params, Params, ab::Array> train_step(Params p, Params momentum, ab::Array images,
                                                 ab::Array labels, ab::Array rate) {
  // Forward.
  ab::Array hidden = hidden_layer(p, images);
  ab::Array logits = ab::matmul(hidden, p.w2) + p.b2;
  ab::Array digits = ab::arange(10, ab::i32);
  ab::Array truth = (ab::expand_dims(labels, 1) == digits).astype(ab::f32);
  ab::Array loss = -ab::mean(ab::sum(truth * ab::log_softmax(logits), -1));

  // Backward: the derivative of the loss by each of them.
  ab::Array d_logits = (ab::softmax(logits) - truth) / static_cast<float>(images.shape()[0]);
  ab::Array d_hidden = ab::where(hidden > 0.0f, ab::matmul(d_logits, transposed(p.w2)), 0.0f);
  Params d = {ab::matmul(transposed(images), d_hidden), ab::sum(d_hidden, 0),
              ab::matmul(transposed(hidden), d_logits), ab::sum(d_logits, 0)};

  // Momentum, then the step.
  auto pushed = [](ab::Array m, ab::Array g) { return 0.9f * m + g; };
  Params m = {pushed(momentum.w1, d.w1), pushed(momentum.b1, d.b1), pushed(momentum.w2, d.w2),
              pushed(momentum.b2, d.b2)};
  return {Params{p.w1 - rate * m.w1, p.b1 - rate * m.b1, p.w2 - rate * m.w2, p.b2 - rate * m.b2}, m,
          loss};
}
