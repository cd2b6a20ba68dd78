"""A + u1 v1^T + u2 v2^T, and two products with it."""
SIZES = {"bench": dict(n=3000), "test": dict(n=7)}
COMPILED = True


def data(rng, n):
    return dict(A=rng.random((n, n)), **{name: rng.random(n) for name in ("u1", "v1", "u2", "v2", "w", "x", "y", "z")})


def work(n):
    return dict(flops=8 * n * n, bytes=16 * n * n)


def numpy(np):
    def gemver(A, u1, v1, u2, v2, w, x, y, z):
        A = A + np.outer(u1, v1) + np.outer(u2, v2)
        x = x + 1.2 * (y @ A) + z
        return A, w + 1.5 * (A @ x), x

    return gemver


numba = jax = torch = numpy
