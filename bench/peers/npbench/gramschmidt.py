"""A = Q R by the modified Gram-Schmidt method, column after column."""
SIZES = {"bench": dict(m=220, n=180), "test": dict(m=8, n=6)}
INPLACE = ("A",)


def data(rng, m, n):
    import numpy as np

    return dict(A=rng.random((m, n)) + 5 * np.eye(m, n))


def work(m, n):
    return dict(flops=2 * m * n * n, bytes=8 * (2 * m * n + n * n))


def numpy(np):
    def gramschmidt(A):
        n = A.shape[1]
        Q, R = np.zeros_like(A), np.zeros((n, n))
        for k in range(n):
            R[k, k] = np.sqrt(A[:, k] @ A[:, k])
            Q[:, k] = A[:, k] / R[k, k]
            R[k, k + 1:] = Q[:, k] @ A[:, k + 1:]
            A[:, k + 1:] -= np.outer(Q[:, k], R[k, k + 1:])
        return Q, R

    return gramschmidt


def torch(torch):
    def gramschmidt(A):
        n = A.shape[1]
        Q, R = torch.zeros_like(A), torch.zeros((n, n), dtype=A.dtype)
        for k in range(n):
            R[k, k] = torch.sqrt(A[:, k] @ A[:, k])
            Q[:, k] = A[:, k] / R[k, k]
            R[k, k + 1:] = Q[:, k] @ A[:, k + 1:]
            A[:, k + 1:] -= torch.outer(Q[:, k], R[k, k + 1:])
        return Q, R

    return gramschmidt


def numba(np):
    from numba import njit

    @njit
    def gramschmidt(A):
        m, n = A.shape
        Q, R = np.zeros_like(A), np.zeros((n, n))
        for k in range(n):
            R[k, k] = np.sqrt(np.sum(A[:, k] ** 2))
            Q[:, k] = A[:, k] / R[k, k]
            for i in range(m):
                for j in range(k + 1, n):
                    R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                for j in range(k + 1, n):
                    A[i, j] -= Q[i, k] * R[k, j]
        return Q, R

    return gramschmidt


def jax(jnp):
    from jax import lax

    def gramschmidt(A):
        n = A.shape[1]
        place = jnp.arange(n)

        def step(k, state):
            a, q, r = state
            length = jnp.sqrt(a[:, k] @ a[:, k])
            column = a[:, k] / length
            row = jnp.where(place > k, column @ a, 0)
            return (a - jnp.outer(column, row), q.at[:, k].set(column),
                    r.at[k].set(jnp.where(place == k, length, row)))

        return lax.fori_loop(0, n, step, (A, jnp.zeros_like(A), jnp.zeros((n, n))))[1:]

    return gramschmidt
