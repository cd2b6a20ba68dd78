"""The LU factors of A without pivoting, both in one matrix."""
SIZES = {"bench": dict(n=220), "test": dict(n=7)}
INPLACE = ("A",)


def data(rng, n):
    import numpy as np

    x = rng.random((n, n))
    return dict(A=x @ x.T / n + np.eye(n))


def work(n):
    return dict(flops=2 * n**3 / 3, bytes=16 * n * n)


def numpy(np):
    def lu(A):
        for k in range(len(A) - 1):
            A[k + 1:, k] /= A[k, k]
            A[k + 1:, k + 1:] -= np.outer(A[k + 1:, k], A[k, k + 1:])
        return A

    return lu


def numba(np):
    from numba import njit

    @njit
    def lu(A):
        n = len(A)
        for k in range(n - 1):
            for i in range(k + 1, n):
                A[i, k] /= A[k, k]
                for j in range(k + 1, n):
                    A[i, j] -= A[i, k] * A[k, j]
        return A

    return lu


def by_panels(panel, solve, set_block, width=32):
    """A program that factors a panel of columns at a time."""

    def lu(A):
        n = len(A)
        for begin in range(0, n, width):
            end = min(begin + width, n)
            left = panel(A[begin:, begin:end])
            A = set_block(A, begin, begin, left)
            if end < n:
                top = solve(left[: end - begin], A[begin:end, end:])
                A = set_block(A, begin, end, top)
                A = set_block(A, end, end, A[end:, end:] - left[end - begin:] @ top)
        return A

    return lu


def torch(torch):
    def set_block(A, row, column, block):
        A[row:row + block.shape[0], column:column + block.shape[1]] = block
        return A

    def solve(L, B):
        return torch.linalg.solve_triangular(L, B, upper=False, unitriangular=True)

    def panel(m):
        for k in range(min(len(m) - 1, m.shape[1])):
            m[k + 1:, k] /= m[k, k]
            m[k + 1:, k + 1:] -= torch.outer(m[k + 1:, k], m[k, k + 1:])
        return m

    return by_panels(panel, solve, set_block)


def jax(jnp):
    from jax import lax
    from jax.scipy.linalg import solve_triangular

    def set_block(A, row, column, block):
        return lax.dynamic_update_slice(A, block, (row, column))

    def solve(L, B):
        return solve_triangular(L, B, lower=True, unit_diagonal=True)

    def panel(m):
        down, along = jnp.arange(m.shape[0]), jnp.arange(m.shape[1])

        def step(k, m):
            column = m[:, k]
            below = jnp.where(down > k, column / column[k], column)
            m = m - jnp.outer(jnp.where(down > k, below, 0), jnp.where(along > k, m[k], 0))
            return m.at[:, k].set(below)

        return lax.fori_loop(0, min(m.shape[0] - 1, m.shape[1]), step, m)

    return by_panels(panel, solve, set_block)
