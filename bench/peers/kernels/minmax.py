"""An array scaled by its least and its greatest element, f32."""
SIZES = {"bench": dict(n=16000000), "test": dict(n=37)}
COMPILED = True


def data(rng, n):
    return dict(x=rng.random(n, dtype="float32"))


def work(n):
    return dict(flops=4 * n, bytes=12 * n, dtype="f32")


def numpy(np):
    def scaled(x):
        least, greatest = x.min(), x.max()
        return (x - least) / (greatest - least)

    return scaled


jax = torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True, fastmath=True)
    def scaled(x):
        least = greatest = x[0]
        for i in prange(x.size):
            least = min(least, x[i])
            greatest = max(greatest, x[i])
        result = np.empty_like(x)
        for i in prange(x.size):
            result[i] = (x[i] - least) / (greatest - least)
        return result

    return scaled
