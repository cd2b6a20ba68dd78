"""The product of a matrix with a vector, f32."""
SIZES = {"bench": dict(n=4096), "test": dict(n=9)}
COMPILED = True


def data(rng, n):
    return dict(A=rng.random((n, n), dtype="float32"), x=rng.random(n, dtype="float32"))


def work(n):
    return dict(flops=2 * n * n, bytes=4 * n * n, dtype="f32")


def numpy(np):
    return lambda A, x: A @ x


numba = jax = torch = numpy
