"""The means of data in rings of equal width, ring after ring."""
SIZES = {"bench": dict(n=400000, rings=1000), "test": dict(n=300, rings=10)}


def data(rng, n, rings):
    return dict(data=rng.random(n), radius=rng.random(n), rings=rings)


def work(n, rings):
    return dict(flops=4 * n * rings, bytes=16 * n)


def numpy(np):
    def azimint_naive(data, radius, rings):
        greatest = np.max(radius)
        result = np.zeros(rings)
        for i in range(rings):
            inside = (greatest * i / rings <= radius) & (radius < greatest * (i + 1) / rings)
            result[i] = data[inside].mean()
        return result

    return azimint_naive


def torch(torch):
    def azimint_naive(data, radius, rings):
        greatest = radius.max()
        result = torch.zeros(rings, dtype=data.dtype)
        for i in range(rings):
            inside = (greatest * i / rings <= radius) & (radius < greatest * (i + 1) / rings)
            result[i] = data[inside].mean()
        return result

    return azimint_naive


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def azimint_naive(data, radius, rings):
        greatest = radius.max()
        result = np.zeros(rings)
        for i in prange(rings):
            low, high = greatest * i / rings, greatest * (i + 1) / rings
            total, count = 0.0, 0
            for j in range(len(data)):
                if low <= radius[j] < high:
                    total += data[j]
                    count += 1
            result[i] = total / count
        return result

    return azimint_naive


def jax(jnp):
    from jax import lax

    def azimint_naive(data, radius, rings):
        greatest = radius.max()

        def mean(i):
            inside = (greatest * i / rings <= radius) & (radius < greatest * (i + 1) / rings)
            return jnp.where(inside, data, 0).sum() / inside.sum()

        return lax.map(mean, jnp.arange(rings))

    return azimint_naive
