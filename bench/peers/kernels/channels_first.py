"""Images from NHWC to NCHW, f32."""
SIZES = {"bench": dict(n=32, size=56, channels=64), "test": dict(n=2, size=7, channels=5)}


def data(rng, n, size, channels):
    return dict(x=rng.random((n, size, size, channels), dtype="float32"))


def work(n, size, channels):
    return dict(bytes=8 * n * size * size * channels, dtype="f32")


def numpy(np):
    return lambda x: np.ascontiguousarray(x.transpose(0, 3, 1, 2))


def jax(jnp):
    return lambda x: x.transpose(0, 3, 1, 2)


def torch(torch):
    return lambda x: x.permute(0, 3, 1, 2).contiguous()


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def moved(x):
        n, height, width, channels = x.shape
        result = np.empty((n, channels, height, width), x.dtype)
        for row in prange(n * height):
            i, y = row // height, row % height
            for left in range(0, width, 16):
                for c in range(channels):
                    for at in range(left, min(left + 16, width)):
                        result[i, c, y, at] = x[i, y, at, c]
        return result

    return moved
