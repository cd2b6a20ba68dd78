"""The sum over the first axis of a matrix, f32."""
SIZES = {"bench": dict(n=4096), "test": dict(n=19)}
COMPILED = True


def data(rng, n):
    return dict(A=rng.random((n, n), dtype="float32"))


def work(n):
    return dict(flops=n * n, bytes=4 * n * n, dtype="f32")


def numpy(np):
    return lambda A: A.sum(axis=0)


jax = numpy


def torch(torch):
    return lambda A: torch.sum(A, 0)


def numba(np):
    from numba import get_num_threads, njit, prange

    @njit(parallel=True, fastmath=True)
    def columns(A):
        parts = get_num_threads()
        results = np.empty((parts, A.shape[1]), A.dtype)
        for part in prange(parts):
            result = A[part * A.shape[0] // parts].copy()
            for i in range(part * A.shape[0] // parts + 1, (part + 1) * A.shape[0] // parts):
                for j in range(A.shape[1]):
                    result[j] += A[i, j]
            results[part] = result
        for part in range(1, parts):
            results[0] += results[part]
        return results[0]

    return columns
