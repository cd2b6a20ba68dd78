// Self energies of electrons that phonons scatter, in small blocks per atom and neighbour.
#include "bench/peers/benchmark.h"

namespace peers {

// Sigma[k, e, a] is the sum over q, w <= e, b, i, j of G[k, e - w, neighbour[a, b]] dH[a, b, i]
// dH[a, b, j] D[q, w, a, b, i, j]; products of blocks. What does not depend on k and e is summed
// first.
static ab::Array energies(ab::Array neighbours, ab::Array dh, ab::Array g, ab::Array d) {
  const ab::Array phonons = ab::sum(d, 0);
  const ab::Array weighted = ab::einsum("abjyz,wabij->wabiyz", dh, phonons);
  const ab::Array both = ab::einsum("abixy,wabiyz->wabxz", dh, weighted);
  const ab::Array near = ab::take(g, neighbours, 2, ab::OutOfRange::clip);
  const std::int64_t levels = g.shape()[1];
  ab::Array sigma = ab::zeros_like(g);
  for (std::int64_t w = 0; w < d.shape()[1]; ++w) {
    const ab::Array lower = near(ab::all, ab::range(0, levels - w));
    const ab::Array scattered = ab::einsum("keabxy,abyz->keaxz", lower, both[w]);
    sigma += ab::pad(scattered, {0, w, 0, 0, 0}, {0, 0, 0, 0, 0});
  }
  return sigma;
}

Benchmark scattering_self_energies() { return benchmark(energies, {"neighbours", "dh", "g", "d"}); }

}  // namespace peers
