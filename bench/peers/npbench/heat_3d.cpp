// Heat in a cube by its six neighbours, from A into B and from B into A, step after step.
#include "bench/peers/benchmark.h"

namespace peers {

// `to` with its inside replaced by that of `from` a step later.
static ab::Array heated(const ab::Array& from, const ab::Array& to) {
  const ab::Range in = ab::range(1, -1), before = ab::range(0, -2), after = ab::range(2);
  const ab::Array centre = from(in, in, in);
  const auto second = [&](const ab::Array& low, const ab::Array& high) {
    return 0.125 * (high - 2.0 * centre + low);
  };
  return ab::at(to, in, in, in)
      .set(second(from(before, in, in), from(after, in, in)) +
           second(from(in, before, in), from(in, after, in)) +
           second(from(in, in, before), from(in, in, after)) + centre);
}

static std::pair<ab::Array, ab::Array> heat(ab::Array a, ab::Array b, int steps) {
  return ab::fori_loop(
      1, steps,
      [](const ab::Array&, auto& state) {
        auto& [x, y] = state;
        const ab::Array next = heated(x, y);
        return std::pair{heated(next, x), next};
      },
      std::pair{a, b});
}

Benchmark heat_3d() { return benchmark(heat, {"A", "B", "steps"}); }

}  // namespace peers
