"""The sum of the transposes of three square matrices, f32."""
SIZES = {"bench": dict(n=4096), "test": dict(n=37)}


def data(rng, n):
    return {name: rng.random((n, n), dtype="float32") for name in "ABC"}


def work(n):
    return dict(flops=2 * n * n, bytes=16 * n * n, dtype="f32")


def numpy(np):
    return lambda A, B, C: np.ascontiguousarray((A + B + C).T)


def jax(jnp):
    return lambda A, B, C: A.T + B.T + C.T


def torch(torch):
    return lambda A, B, C: (A.T + B.T + C.T).contiguous()


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def total(A, B, C):
        n = A.shape[0]
        result = np.empty_like(A)
        for block in prange((n + 31) // 32):
            for left in range(0, n, 32):
                for i in range(32 * block, min(32 * block + 32, n)):
                    for j in range(left, min(left + 32, n)):
                        result[i, j] = A[j, i] + B[j, i] + C[j, i]
        return result

    return total
