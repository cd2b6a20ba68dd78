"""The means of data in rings of equal width, by two histograms."""
SIZES = {"bench": dict(n=4000000, rings=1000), "test": dict(n=300, rings=10)}
TOLERANCE = 1e-4  # an element on the edge of a ring may be in either


def data(rng, n, rings):
    return dict(data=rng.random(n), radius=rng.random(n), rings=rings)


def work(n, rings):
    return dict(flops=4 * n, bytes=24 * n)


def numpy(np):
    def azimint_hist(data, radius, rings):
        return np.histogram(radius, rings, weights=data)[0] / np.histogram(radius, rings)[0]

    return azimint_hist


def torch(torch):
    def azimint_hist(data, radius, rings):
        low, high = radius.min(), radius.max()
        ring = ((radius - low) / (high - low) * rings).to(torch.int64).clamp_(max=rings - 1)
        return torch.bincount(ring, data, rings) / torch.bincount(ring, minlength=rings)

    return azimint_hist


def numba(np):
    from numba import njit

    @njit
    def azimint_hist(data, radius, rings):
        low, high = radius.min(), radius.max()
        totals, counts = np.zeros(rings), np.zeros(rings)
        for i in range(len(data)):
            ring = min(int((radius[i] - low) / (high - low) * rings), rings - 1)
            totals[ring] += data[i]
            counts[ring] += 1
        return totals / counts

    return azimint_hist


def jax(jnp):
    def azimint_hist(data, radius, rings):
        low, high = radius.min(), radius.max()
        ring = jnp.minimum(((radius - low) / (high - low) * rings).astype(jnp.int32), rings - 1)
        return jnp.bincount(ring, data, length=rings) / jnp.bincount(ring, length=rings)

    return azimint_hist
