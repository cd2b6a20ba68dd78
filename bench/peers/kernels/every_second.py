"""Every second element of an array, f32."""
SIZES = {"bench": dict(n=16000000), "test": dict(n=37)}


def data(rng, n):
    return dict(x=rng.random(n, dtype="float32"))


def work(n):
    return dict(bytes=6 * n, dtype="f32")


def numpy(np):
    return lambda x: x[::2].copy()


def jax(jnp):
    return lambda x: x[::2]


def torch(torch):
    return lambda x: x[::2].clone(memory_format=torch.contiguous_format)


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def halves(x):
        result = np.empty((x.size + 1) // 2, x.dtype)
        for i in prange(result.size):
            result[i] = x[2 * i]
        return result

    return halves
