"""Ten cheap operations on each element of an array that fits into caches, f32."""
SIZES = {"64k": dict(n=2**16), "1M": dict(n=2**20), "test": dict(n=37)}
COMPILED = True


def data(rng, n):
    return dict(x=rng.random(n, dtype="float32"))


def work(n):
    return dict(flops=10 * n, bytes=8 * n, dtype="f32")


def numpy(np):
    scale, step = np.float32(0.99), np.float32(0.5)

    def chain(x):
        for _ in range(5):
            x = x * scale + step
        return x

    return chain


numba = numpy


def jax(jnp):
    def chain(x):
        for _ in range(5):
            x = x * 0.99 + 0.5
        return x

    return chain


def torch(torch):
    return jax(torch)
