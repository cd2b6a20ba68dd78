"""Sums over points of a contour of solutions of (z H0 + H1 + H2 / z) X = Y."""
SIZES = {"bench": dict(nr=200, nm=400, points=32), "test": dict(nr=5, nm=6, points=4)}


def data(rng, nr, nm, points):
    def numbers(*shape):
        return rng.random(shape) + 1j * rng.random(shape)

    return dict(h=numbers(3, nr, nr), points=numbers(points), y=numbers(nr, nm))


def work(nr, nm, points):
    return dict(flops=points * (8 * nr**3 / 3 + 8 * nr * nr * nm), bytes=16 * (3 * nr * nr + 3 * nr * nm))


def numpy(np):
    def contour_integral(h, points, y):
        p0, p1 = np.zeros_like(y), np.zeros_like(y)
        for z in points:
            x = np.linalg.solve(z * h[0] + h[1] + h[2] / z, y)
            if abs(z) < 1:
                x = -x
            p0 += x
            p1 += z * x
        return p0, p1

    return contour_integral


numba = torch = numpy


def jax(jnp):
    from jax import lax

    def contour_integral(h, points, y):
        def add(i, sums):
            z = points[i]
            x = jnp.linalg.solve(z * h[0] + h[1] + h[2] / z, y)
            x = jnp.where(jnp.abs(z) < 1, -x, x)
            return sums[0] + x, sums[1] + z * x

        return lax.fori_loop(0, len(points), add, (jnp.zeros_like(y), jnp.zeros_like(y)))

    return contour_integral
