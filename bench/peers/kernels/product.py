"""The product of two square matrices."""
SIZES = {f"f{bits} {n}": dict(n=n, bits=bits) for bits in (32, 64) for n in (96, 256, 512, 1024, 1536)}
SIZES["test"] = dict(n=19, bits=32)
COMPILED = True


def data(rng, n, bits):
    return {name: rng.random((n, n), dtype=f"float{bits}") for name in "AB"}


def work(n, bits):
    return dict(flops=2 * n**3, bytes=3 * bits // 8 * n * n, dtype=f"f{bits}")


def numpy(np):
    return lambda A, B: A @ B


numba = jax = torch = numpy
