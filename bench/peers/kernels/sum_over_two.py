"""The sum over two leading axes of three, f32."""
from kernels import sum_over_first

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
    from numba import njit

    columns = sum_over_first.numba(np)

    @njit
    def over_two(A):
        return columns(A.reshape(-1, A.shape[2]))

    return over_two
