"""Horizontal diffusion of a weather model: a limited fourth difference."""
SIZES = {"bench": dict(i=128, j=128, k=160), "test": dict(i=5, j=6, k=4)}
COMPILED = True


def data(rng, i, j, k):
    return dict(field=rng.random((i + 4, j + 4, k)), coefficient=rng.random((i, j, k)))


def work(i, j, k):
    return dict(flops=20 * i * j * k, bytes=3 * 8 * i * j * k)


def numpy(np):
    def hdiff(field, coefficient):
        f = field
        lap = 4.0 * f[1:-1, 1:-1] - (f[2:, 1:-1] + f[:-2, 1:-1] + f[1:-1, 2:] + f[1:-1, :-2])
        x = lap[1:, 1:-1] - lap[:-1, 1:-1]
        x = np.where(x * (f[2:-1, 2:-2] - f[1:-2, 2:-2]) > 0, 0.0, x)
        y = lap[1:-1, 1:] - lap[1:-1, :-1]
        y = np.where(y * (f[2:-2, 2:-1] - f[2:-2, 1:-2]) > 0, 0.0, y)
        return f[2:-2, 2:-2] - coefficient * (x[1:] - x[:-1] + y[:, 1:] - y[:, :-1])

    return hdiff


jax = torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(inline="always")
    def laplacian(f, i, j, k):
        return 4.0 * f[i, j, k] - (f[i + 1, j, k] + f[i - 1, j, k] + f[i, j + 1, k] + f[i, j - 1, k])

    @njit(inline="always")
    def limited(difference, slope):
        return 0.0 if difference * slope > 0 else difference

    @njit(parallel=True)
    def hdiff(field, coefficient):
        f = field
        result = np.empty_like(coefficient)
        ni, nj, nk = coefficient.shape
        for a in prange(ni):
            i = a + 2
            for j in range(2, nj + 2):
                for k in range(nk):
                    own = laplacian(f, i, j, k)
                    x1 = limited(laplacian(f, i + 1, j, k) - own, f[i + 1, j, k] - f[i, j, k])
                    x0 = limited(own - laplacian(f, i - 1, j, k), f[i, j, k] - f[i - 1, j, k])
                    y1 = limited(laplacian(f, i, j + 1, k) - own, f[i, j + 1, k] - f[i, j, k])
                    y0 = limited(own - laplacian(f, i, j - 1, k), f[i, j, k] - f[i, j - 1, k])
                    result[a, j - 2, k] = f[i, j, k] - coefficient[a, j - 2, k] * (x1 - x0 + y1 - y0)
        return result

    return hdiff
