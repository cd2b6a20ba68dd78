#include "network.h"

namespace {

ab::Array logits(const Params& p, ab::Array images) {
  return ab::dense(ab::relu(ab::dense(images, p.w1, p.b1)), p.w2, p.b2);
}

ab::Array loss(const Params& p, ab::Array images, ab::Array labels) {
  return ab::cross_entropy_loss(logits(p, images), labels);
}

}  // namespace

State first_state(std::int64_t hidden) {
  auto keys = ab::random::split(ab::random::key(7));
  const Params p = {ab::init::he_normal(keys[0], {64, hidden}), ab::zeros({hidden}),
                    ab::init::he_normal(keys[1], {hidden, 10}), ab::zeros({10})};
  return {p, ab::optim::adam_init(p)};
}

ab::Array predict(Params p, ab::Array images) { return ab::argmax(logits(p, images), -1); }

std::pair<State, ab::Array> train_step(State state, ab::Array images, ab::Array labels) {
  const auto [value, gradients] = ab::value_and_grad(loss)(state.params, images, labels);
  auto [params, adam] =
      ab::optim::adam(state.params, gradients, state.adam, {.learning_rate = 2e-3});
  return {State{params, adam}, value};
}

std::pair<State, ab::Array> train_epoch(State state, ab::Array images, ab::Array labels,
                                        ab::Array key, std::int64_t batch) {
  const std::int64_t steps = images.shape()[0] / batch;
  const ab::Array order = ab::random::permutation(key, images.shape()[0]);
  const auto [last, losses] = ab::scan(
      [&](State& now, ab::Array& rows) {
        return train_step(now, ab::take(images, rows, 0), ab::take(labels, rows, 0));
      },
      state, ab::reshape(order(ab::range(0, steps * batch)), {steps, batch}));
  return {last, ab::mean(losses)};
}
