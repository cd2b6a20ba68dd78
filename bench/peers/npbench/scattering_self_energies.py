"""Self energies of electrons that phonons scatter, in small blocks per atom and neighbour.

Sigma[k, e, a] is the sum over q, w <= e, b, i, j of G[k, e - w, neighbour[a, b]] dH[a, b, i] dH[a, b, j]
D[q, w, a, b, i, j]; products of blocks. What does not depend on k and e is summed first, in all but Numba's loops.
"""
SIZES = {"bench": dict(nk=4, ne=10, nq=4, nw=3, n3d=3, na=20, nb=4, norb=4),
         "test": dict(nk=2, ne=3, nq=2, nw=2, n3d=2, na=4, nb=2, norb=2)}


def data(rng, nk, ne, nq, nw, n3d, na, nb, norb):
    import numpy as np

    def numbers(*shape):
        return rng.random(shape) + 1j * rng.random(shape)

    neighbours = (np.arange(na)[:, None] + np.arange(nb) - nb // 2) % na
    return dict(neighbours=neighbours.astype("int32"), dh=numbers(na, nb, n3d, norb, norb),
                g=numbers(nk, ne, na, norb, norb), d=numbers(nq, nw, na, nb, n3d, n3d))


def work(nk, ne, nq, nw, n3d, na, nb, norb):
    return dict(flops=8 * na * nb * nw * (n3d * norb**3 + nk * ne * norb**3),
                bytes=16 * (2 * nk * ne * na * norb**2 + nq * nw * na * nb * n3d**2))


def numpy(np):
    def scattering(neighbours, dh, g, d):
        weighted = np.einsum("abjyz,wabij->wabiyz", dh, d.sum(0))
        both = np.einsum("abixy,wabiyz->wabxz", dh, weighted)
        near = g[:, :, neighbours]
        levels = g.shape[1]
        sigma = np.zeros_like(g)
        for w in range(d.shape[1]):
            sigma[:, w:] += np.einsum("keabxy,abyz->keaxz", near[:, :levels - w], both[w])
        return sigma

    return scattering


torch = numpy


def jax(jnp):
    def scattering(neighbours, dh, g, d):
        weighted = jnp.einsum("abjyz,wabij->wabiyz", dh, d.sum(0))
        both = jnp.einsum("abixy,wabiyz->wabxz", dh, weighted)
        near = g[:, :, neighbours]
        levels = g.shape[1]
        sigma = jnp.zeros_like(g)
        for w in range(d.shape[1]):
            sigma = sigma.at[:, w:].add(jnp.einsum("keabxy,abyz->keaxz", near[:, :levels - w], both[w]))
        return sigma

    return scattering


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def scattering(neighbours, dh, g, d):
        nk, ne, na, norb, _ = g.shape
        nq, nw, _, nb, n3d, _ = d.shape
        sigma = np.zeros_like(g)
        for k in prange(nk):
            for e in range(ne):
                for a in range(na):
                    for b in range(nb):
                        for w in range(min(nw, e + 1)):
                            for i in range(n3d):
                                left = g[k, e - w, neighbours[a, b]] @ dh[a, b, i]
                                right = np.zeros((norb, norb), g.dtype)
                                for q in range(nq):
                                    for j in range(n3d):
                                        right += dh[a, b, j] * d[q, w, a, b, i, j]
                                sigma[k, e, a] += left @ right
        return sigma

    return scattering
