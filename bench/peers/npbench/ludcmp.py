"""The solution of A x = b by LU without pivoting."""
SIZES = {"bench": dict(n=220), "test": dict(n=7)}
INPLACE = ("A",)


def data(rng, n):
    import numpy as np

    x = rng.random((n, n))
    return dict(A=x @ x.T / n + np.eye(n), b=rng.random(n))


def work(n):
    return dict(flops=2 * n**3 / 3, bytes=8 * n * n)


def numpy(np):
    def ludcmp(A, b):
        n = len(A)
        for k in range(n - 1):
            A[k + 1:, k] /= A[k, k]
            A[k + 1:, k + 1:] -= np.outer(A[k + 1:, k], A[k, k + 1:])
        x = np.empty_like(b)
        for i in range(n):
            x[i] = b[i] - A[i, :i] @ x[:i]
        for i in range(n - 1, -1, -1):
            x[i] = (x[i] - A[i, i + 1:] @ x[i + 1:]) / A[i, i]
        return x

    return ludcmp


def numba(np):
    from numba import njit

    @njit
    def ludcmp(A, b):
        n = len(A)
        for k in range(n - 1):
            for i in range(k + 1, n):
                A[i, k] /= A[k, k]
                for j in range(k + 1, n):
                    A[i, j] -= A[i, k] * A[k, j]
        x = np.empty_like(b)
        for i in range(n):
            x[i] = b[i] - A[i, :i] @ x[:i]
        for i in range(n - 1, -1, -1):
            x[i] = (x[i] - A[i, i + 1:] @ x[i + 1:]) / A[i, i]
        return x

    return ludcmp


def torch(torch):
    from npbench import lu

    factor, solve = lu.torch(torch), torch.linalg.solve_triangular

    def ludcmp(A, b):
        factors = factor(A)
        y = solve(factors, b[:, None], upper=False, unitriangular=True)
        return solve(factors, y, upper=True)[:, 0]

    return ludcmp


def jax(jnp):
    from jax.scipy.linalg import solve_triangular
    from npbench import lu

    factor = lu.jax(jnp)

    def ludcmp(A, b):
        factors = factor(A)
        return solve_triangular(factors, solve_triangular(factors, b, lower=True, unit_diagonal=True))

    return ludcmp
