"""Hunters and prey (Lotka and Volterra) by Runge-Kutta steps of fourth order, one pair of numbers."""
SIZES = {"bench": dict(steps=100000), "test": dict(steps=5)}
TOLERANCE = 1e-7


def data(rng, steps):
    return dict(x=9 + rng.random(1), y=9 + rng.random(1), steps=steps)


def work(steps):
    return dict(flops=steps * 40, bytes=16)


def one_step(x, y):
    def slope(x, y):
        return x * (1.1 - 0.4 * y), y * (0.1 * x - 0.4)

    dt = 1e-3
    a, b = slope(x, y)
    c, d = slope(x + dt / 2 * a, y + dt / 2 * b)
    e, f = slope(x + dt / 2 * c, y + dt / 2 * d)
    g, h = slope(x + dt * e, y + dt * f)
    return x + dt / 6 * (a + 2 * c + 2 * e + g), y + dt / 6 * (b + 2 * d + 2 * f + h)


def numpy(np):
    def ode(x, y, steps):
        x, y = float(x[0]), float(y[0])
        for _ in range(steps):
            x, y = one_step(x, y)
        return x, y

    return ode


def jax(jnp):
    from jax import lax

    return lambda x, y, steps: lax.fori_loop(0, steps, lambda _, s: one_step(*s), (x[0], y[0]))
