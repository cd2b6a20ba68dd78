"""The distances of pairs of points on a sphere."""
SIZES = {"bench": dict(n=1000000), "test": dict(n=37)}
COMPILED = True


def data(rng, n):
    return {name: rng.random(n) for name in ("theta1", "phi1", "theta2", "phi2")}


def work(n):
    return dict(flops=120 * n, bytes=5 * 8 * n)


def numpy(np):
    def arc_distance(theta1, phi1, theta2, phi2):
        half = (np.sin((theta2 - theta1) / 2) ** 2
                + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ** 2)
        return 2 * np.arctan2(np.sqrt(half), np.sqrt(1 - half))

    return arc_distance


numba = jax = torch = numpy
