"""The transpose of a square matrix, f32."""
SIZES = {"2048": dict(n=2048), "4096": dict(n=4096), "test": dict(n=37)}


def data(rng, n):
    return dict(A=rng.random((n, n), dtype="float32"))


def work(n):
    return dict(bytes=8 * n * n, dtype="f32")


def numpy(np):
    return lambda A: np.ascontiguousarray(A.T)


def jax(jnp):
    return lambda A: A.T


def torch(torch):
    return lambda A: A.T.contiguous()


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def transposed(A):
        n = A.shape[0]
        result = np.empty_like(A)
        for block in prange((n + 31) // 32):
            for left in range(0, n, 32):
                for i in range(32 * block, min(32 * block + 32, n)):
                    for j in range(left, min(left + 32, n)):
                        result[i, j] = A[j, i]
        return result

    return transposed
