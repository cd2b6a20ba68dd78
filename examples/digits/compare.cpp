#include "compare.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

// The best of ten epochs, in ms.
template <class Epoch>
double time_of(const Epoch& epoch) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    epoch(first_state(128)).wait();
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace

void compare_epochs(const ab::Array& images, const ab::Array& labels, std::int64_t batch) {
  const std::int64_t steps = images.shape()[0] / batch;
  auto one_scan = ab::jit([=](State s, ab::Array x, ab::Array t, ab::Array key) {
    return train_epoch(s, x, t, key, batch);
  });
  auto on_rows = ab::jit([](State s, ab::Array x, ab::Array t, ab::Array rows) {
    return train_step(s, ab::take(x, rows, 0), ab::take(t, rows, 0));
  });
  auto on_batch = ab::jit(train_step);
  auto loop_of = [&](const auto& step) {
    return time_of([&](State s) {  // no call waits for those before
      ab::Array loss, order = ab::random::permutation(ab::random::key(0), images.shape()[0]);
      for (std::int64_t i = 0; i < steps; ++i) {
        std::tie(s, loss) = step(s, order(ab::range(i * batch, (i + 1) * batch)));
      }
      return loss;
    });
  };
  std::printf("an epoch: %.2f ms as one scan\n", time_of([&](const State& s) {
                return one_scan(s, images, labels, ab::random::key(0)).second;
              }));
  std::printf("          %.2f ms as a loop of calls that take their rows\n",
              loop_of([&](const State& s, const ab::Array& rows) {
                return on_rows(s, images, labels, rows);
              }));
  std::printf("          %.2f ms as a loop of calls, the rows taken before them\n",
              loop_of([&](const State& s, const ab::Array& rows) {
                return on_batch(s, ab::take(images, rows, 0), ab::take(labels, rows, 0));
              }));
}
