// Attention of 12 heads of 64 features, f32, forward and backward, with the pass row_blocks and
// without.
//
//   bench_attention TOKENS BATCH forward|backward [REPETITIONS]
//
// prints the medians of interleaved repetitions; bench/attention_peers.py runs it beside JAX.
// Backward is the vjp: all three gradients, the forward pass computed again for them.
#include <anabranch/anabranch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace ab = anabranch;

namespace {

constexpr std::int64_t heads = 12, features = 64;

ab::Array forward(const ab::Array& query, const ab::Array& key, const ab::Array& value) {
  return ab::attention(query, key, value, {.heads = heads});
}

double milliseconds(const auto& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  ab::wait_all();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fputs("bench_attention TOKENS BATCH forward|backward\n", stderr), 1;
  const std::int64_t tokens = std::atol(argv[1]), batch = std::atol(argv[2]);
  const bool is_backward = std::string(argv[3]) == "backward";
  const int repetitions = argc > 4 ? std::atoi(argv[4]) : 9;
  std::vector<ab::Array> x;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    x.push_back(ab::random::normal(ab::random::key(seed), {batch, tokens, heads * features}));
  }
  ab::wait_all();
  ab::Options without = ab::default_options();
  without.disabled.push_back("row_blocks");
  const auto pulled = [](const ab::Array& q, const ab::Array& k, const ab::Array& v,
                         const ab::Array& d) {
    const auto [y, pull] = ab::vjp(forward, q, k, v);
    return pull(d);
  };
  const auto time = [&](auto& blocked, auto& plain, const auto&... inputs) {
    std::vector<double> ours, before;
    for (int i = 0; i <= repetitions; ++i) {
      const double a = milliseconds([&] { blocked(inputs...); });
      const double b = milliseconds([&] { plain(inputs...); });
      if (i == 0) continue;  // compiles
      ours.push_back(a);
      before.push_back(b);
    }
    const double bytes = static_cast<double>(blocked.memory(inputs...).temporaries);
    const double bytes_before = static_cast<double>(plain.memory(inputs...).temporaries);
    std::printf("blocks %.3f ms %.1f MB, without %.3f ms %.1f MB\n", median(ours), bytes / 1e6,
                median(before), bytes_before / 1e6);
  };
  if (is_backward) {
    auto blocked = ab::jit(pulled);
    auto plain = ab::jit(pulled, without);
    time(blocked, plain, x[0], x[1], x[2], x[3]);
  } else {
    auto blocked = ab::jit(forward);
    auto plain = ab::jit(forward, without);
    time(blocked, plain, x[0], x[1], x[2]);
  }
}
