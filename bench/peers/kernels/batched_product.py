"""Products of many small matrices, f32."""
SIZES = {"bench": dict(batch=1000, n=16), "test": dict(batch=7, n=16)}
COMPILED = True
MISSING = {"numba": "has no product of batches"}


def data(rng, batch, n):
    return {name: rng.random((batch, n, n), dtype="float32") for name in "AB"}


def work(batch, n):
    return dict(flops=2 * batch * n**3, bytes=12 * batch * n * n, dtype="f32")


def numpy(np):
    return lambda A, B: A @ B


jax = torch = numpy
