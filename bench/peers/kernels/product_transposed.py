"""The product of a square matrix with the transpose of another."""
from kernels.product import COMPILED, SIZES, data, work


def numpy(np):
    return lambda A, B: A @ B.T


numba = jax = torch = numpy
