// A block of a transformer as in GPT-2, with causal attention of twelve heads, f32.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array block(ab::Array x, ab::Array g1, ab::Array c1, ab::Array wp, ab::Array bp,
                       ab::Array wo, ab::Array bo, ab::Array g2, ab::Array c2, ab::Array wu,
                       ab::Array bu, ab::Array wd, ab::Array bd) {
  const auto p = ab::split(ab::dense(ab::layer_norm(x, g1, c1), wp, bp), 3, -1);
  x = x + ab::dense(ab::attention(p[0], p[1], p[2], {.heads = 12, .causal = true}), wo, bo);
  return x + ab::dense(ab::gelu(ab::dense(ab::layer_norm(x, g2, c2), wu, bu)), wd, bd);
}

Benchmark gpt_block() {
  return benchmark(block,
                   {"x", "g1", "c1", "wp", "bp", "wo", "bo", "g2", "c2", "wu", "bu", "wd", "bd"});
}

}  // namespace peers
