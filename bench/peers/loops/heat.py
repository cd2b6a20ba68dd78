"""Heat on a plate whose edge is kept at its temperature, step after step."""
SIZES = {"bench": dict(n=512, steps=100), "test": dict(n=7, steps=3)}
INPLACE = ("u",)


def data(rng, n, steps):
    return dict(u=rng.random((n, n)), steps=steps)


def work(n, steps):
    return dict(flops=steps * 7 * n * n, bytes=steps * 16 * n * n)


def later(u):
    return u[1:-1, 1:-1] + 0.1 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4.0 * u[1:-1, 1:-1])


def numpy(np):
    def heat(u, steps):
        for _ in range(steps):
            u[1:-1, 1:-1] = later(u)
        return u

    return heat


torch = numpy


def jax(jnp):
    from jax import lax

    def heat(u, steps):
        return lax.fori_loop(0, steps, lambda _, x: x.at[1:-1, 1:-1].set(later(x)), u)

    return heat
