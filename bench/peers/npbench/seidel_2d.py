"""The mean of nine neighbours on a square, in place, element after element."""
SIZES = {"bench": dict(n=200, steps=40), "test": dict(n=7, steps=3)}
INPLACE = ("A",)
MISSING = {"torch": "element after element"}


def data(rng, n, steps):
    return dict(A=rng.random((n, n)), steps=steps)


def work(n, steps):
    return dict(flops=(steps - 1) * 9 * n * n, bytes=(steps - 1) * 16 * n * n)


def numpy(np):
    def seidel_2d(A, steps):
        for _ in range(steps - 1):
            for i in range(1, len(A) - 1):
                A[i, 1:-1] += (A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:]
                               + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:])
                for j in range(1, len(A) - 1):
                    A[i, j] = (A[i, j] + A[i, j - 1]) / 9.0
        return A

    return seidel_2d


def numba(np):
    from numba import njit

    @njit
    def seidel_2d(A, steps):
        n = len(A)
        for _ in range(steps - 1):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    A[i, j] = (A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i, j + 1]
                               + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]) / 9.0
        return A

    return seidel_2d


def jax(jnp):
    from jax import lax

    def mean(left, total):
        value = (total + left) / 9.0
        return value, value

    def row(i, a):
        above, own, below = a[i - 1], a[i], a[i + 1]
        others = (above[:-2] + above[1:-1] + above[2:] + own[1:-1] + own[2:]
                  + below[:-2] + below[1:-1] + below[2:])
        return a.at[i, 1:-1].set(lax.scan(mean, own[0], others)[1])

    def seidel_2d(A, steps):
        return lax.fori_loop(0, steps - 1, lambda _, a: lax.fori_loop(1, len(a) - 1, row, a), A)

    return seidel_2d
