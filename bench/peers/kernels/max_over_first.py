"""The greatest of each column of a matrix, f32."""
from kernels.sum_over_first import COMPILED, SIZES, data, work


def numpy(np):
    return lambda A: A.max(axis=0)


jax = numpy


def torch(torch):
    return lambda A: torch.amax(A, 0)


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
                    result[j] = max(result[j], A[i, j])
            results[part] = result
        for part in range(1, parts):
            results[0] = np.maximum(results[0], results[part])
        return results[0]

    return columns
