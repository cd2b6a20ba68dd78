// The greatest number of pairs in a folded strand of RNA, by Nussinov's table.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array folded(ab::Array strand) {
  const std::int64_t n = strand.size();
  const ab::Array place = ab::arange(n, ab::i32);
  return ab::fori_loop(
      0, n - 1,
      [&](const ab::Array& back, ab::Array& whole) {
        const ab::Array i = static_cast<std::int32_t>(n) - 2 - back;
        return ab::fori_loop(
            i + 1, static_cast<std::int32_t>(n),
            [&](const ab::Array& j, ab::Array& table) {
              const ab::Array row = table(i), pair = ((strand(i) + strand(j)) == 3) & (i < j - 1);
              const ab::Array neighbours = ab::maximum(ab::maximum(row(j - 1), table(i + 1, j)),
                                                       table(i + 1, j - 1) + pair.astype(ab::i32));
              const ab::Array after = ab::roll(table(ab::all, j), -1);
              const ab::Array split = ab::where((place > i) & (place < j), row + after, 0);
              return ab::at(table, i, j).set(ab::maximum(neighbours, ab::max(split)));
            },
            whole);
      },
      ab::zeros({n, n}, ab::i32));
}

Benchmark nussinov() { return benchmark(folded, {"strand"}); }

}  // namespace peers
