// An epoch of examples/digits as one loop of the program, beside loops of calls: a call for each
// minibatch, which takes its rows itself, has them taken before it, or is waited for.
#include <string>
#include <tuple>

#include "bench/compare.h"
#include "examples/digits/network.h"

namespace {

constexpr std::int64_t count = 1437;

// Images and labels of random numbers, and the state before them.
struct Data {
  ab::Array images = ab::random::uniform(ab::random::key(1), {count, 64});
  ab::Array labels = ab::random::randint(ab::random::key(2), {count}, 0, 10);
  State first = first_state(128);
};

void one_scan(benchmark::State& state) {
  const Data data;
  const std::int64_t batch = state.range(0);
  auto epoch = ab::jit([=](State s, ab::Array x, ab::Array t, ab::Array key) {
    return train_epoch(s, x, t, key, batch);
  });
  const auto run = [&] {
    return epoch(data.first, data.images, data.labels, ab::random::key(0)).second;
  };
  run().wait();
  for (auto _ : state) run().wait();
}

template <class Step>
void loop_of(benchmark::State& state, const Data& data, bool waits, const Step& step) {
  const std::int64_t batch = state.range(0);
  const auto run = [&] {
    State s = data.first;
    ab::Array loss, order = ab::random::permutation(ab::random::key(0), count);
    for (std::int64_t at = 0; at + batch <= count; at += batch) {
      std::tie(s, loss) = step(s, order(ab::range(at, at + batch)));
      if (waits) loss.wait();
    }
    loss.wait();
  };
  run();
  for (auto _ : state) run();
}

void calls_that_take(benchmark::State& state, bool waits) {
  const Data data;
  auto step = ab::jit([](State s, ab::Array x, ab::Array t, ab::Array rows) {
    return train_step(s, ab::take(x, rows, 0), ab::take(t, rows, 0));
  });
  loop_of(state, data, waits, [&](const State& s, const ab::Array& rows) {
    return step(s, data.images, data.labels, rows);
  });
}

void calls_on_rows(benchmark::State& state) {
  const Data data;
  auto step = ab::jit(train_step);
  loop_of(state, data, false, [&](const State& s, const ab::Array& rows) {
    return step(s, ab::take(data.images, rows, 0), ab::take(data.labels, rows, 0));
  });
}

template <class Function>
void add(std::int64_t batch, const std::string& which, const Function& function) {
  const std::string name = "epoch, batches of " + std::to_string(batch) + "/" + which;
  auto* made = benchmark::RegisterBenchmark(name.c_str(), function);
  made->Arg(batch)->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  for (std::int64_t batch : {8, 32}) {
    add(batch, "ours", one_scan);
    add(batch, "peer: calls that take their rows",
        [](benchmark::State& state) { calls_that_take(state, false); });
    add(batch, "peer: the same, each waited for",
        [](benchmark::State& state) { calls_that_take(state, true); });
    add(batch, "peer: calls on rows taken before", calls_on_rows);
  }
  return bench::run(argc, argv);
}
