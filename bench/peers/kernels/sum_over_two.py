"""The sum over two leading axes of three, f32."""
SIZES = {"bench": dict(n=64, columns=4096), "test": dict(n=5, columns=19)}
COMPILED = True


def data(rng, n, columns):
    return dict(A=rng.random((n, n, columns), dtype="float32"))


def work(n, columns):
    return dict(flops=n * n * columns, bytes=4 * n * n * columns, dtype="f32")


def numpy(np):
    return lambda A: A.sum(axis=(0, 1))


jax = numpy


def torch(torch):
    return lambda A: torch.sum(A, (0, 1))


def numba(np):
    from numba import get_num_threads, njit, prange

    @njit(parallel=True, fastmath=True)
    def columns(A):
        parts = get_num_threads()
        sums = np.zeros((parts, A.shape[2]), A.dtype)
        for part in prange(parts):
            total = np.zeros(A.shape[2], A.dtype)
            for i in range(part * A.shape[0] // parts, (part + 1) * A.shape[0] // parts):
                for j in range(A.shape[1]):
                    for k in range(A.shape[2]):
                        total[k] += A[i, j, k]
            sums[part] = total
        return sums.sum(axis=0)

    return columns
