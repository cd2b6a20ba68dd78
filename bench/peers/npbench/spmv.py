"""A sparse matrix in compressed rows times a vector."""
SIZES = {"bench": dict(m=131072, n=131072, nonzeros=262144), "test": dict(m=9, n=11, nonzeros=30)}


def data(rng, m, n, nonzeros):
    import numpy as np

    row = np.sort(rng.integers(0, m, nonzeros))
    rows = np.searchsorted(row, np.arange(m + 1)).astype("int32")
    return dict(rows=rows, columns=rng.integers(0, n, nonzeros).astype("int32"), values=rng.random(nonzeros),
                x=rng.random(n))


def work(m, n, nonzeros):
    return dict(flops=2 * nonzeros, bytes=12 * nonzeros + 12 * m + 8 * n)


def numpy(np):
    def spmv(rows, columns, values, x):
        products = values * x[columns]
        return np.bincount(np.repeat(np.arange(len(rows) - 1), np.diff(rows)), products, len(rows) - 1)

    return spmv


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def spmv(rows, columns, values, x):
        y = np.empty(len(rows) - 1)
        for i in prange(len(y)):
            total = 0.0
            for k in range(rows[i], rows[i + 1]):
                total += values[k] * x[columns[k]]
            y[i] = total
        return y

    return spmv


def jax(jnp):
    from jax import ops

    def spmv(rows, columns, values, x):
        row = jnp.repeat(jnp.arange(len(rows) - 1), jnp.diff(rows), total_repeat_length=len(values))
        return ops.segment_sum(values * x[columns], row, len(rows) - 1, indices_are_sorted=True)

    return spmv


def torch(torch):
    def spmv(rows, columns, values, x):
        return torch.sparse_csr_tensor(rows, columns, values, (len(rows) - 1, len(x))) @ x

    return spmv
