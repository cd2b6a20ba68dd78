"""Ten rounds of k-means: each point to the nearest centre, each centre to the mean of its points."""
SIZES = {"bench": dict(points=100000, axes=8, centres=16, rounds=10),
         "test": dict(points=40, axes=3, centres=4, rounds=2)}
MAY_DIFFER = 1e-3  # a point between two centres may go to either


def data(rng, points, axes, centres, rounds):
    where = rng.random((points, axes))
    return dict(points=where, centres=where[:centres].copy(), rounds=rounds)


def work(points, axes, centres, rounds):
    return dict(flops=(rounds + 1) * 3 * points * axes * centres, bytes=(rounds + 1) * 8 * points * axes)


def numpy(np):
    def k_means(points, centres, rounds):
        def nearest(c):
            return ((points[:, None] - c) ** 2).sum(2).argmin(1)

        for _ in range(rounds):
            ids = nearest(centres)
            counts = np.bincount(ids, minlength=len(centres))
            sums = np.stack([np.bincount(ids, points[:, a], len(centres)) for a in range(points.shape[1])], 1)
            centres = sums / counts[:, None]
        return centres, nearest(centres)

    return k_means


def jax(jnp):
    from jax import lax, ops

    def k_means(points, centres, rounds):
        def nearest(c):
            return ((points[:, None] - c) ** 2).sum(2).argmin(1)

        def turn(_, c):
            ids = nearest(c)
            return ops.segment_sum(points, ids, len(c)) / jnp.bincount(ids, length=len(c))[:, None]

        centres = lax.fori_loop(0, rounds, turn, centres)
        return centres, nearest(centres)

    return k_means
