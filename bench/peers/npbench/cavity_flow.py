"""Flow in a square whose lid moves: steps of velocity, each with turns of Poisson's equation for the pressure.

The last steps of Barba and Forsyth, CFD Python: the 12 steps to Navier-Stokes equations, doi:10.21105/jose.00021.
"""
SIZES = {"bench": dict(n=121, steps=50, turns=10), "test": dict(n=7, steps=2, turns=2)}
INPLACE = ("u", "v", "p")
DENSITY, VISCOSITY = 1.0, 0.1


def data(rng, n, steps, turns):
    return dict(u=0.1 * rng.random((n, n)), v=0.1 * rng.random((n, n)), p=0.1 * rng.random((n, n)), steps=steps,
                turns=turns)


def work(n, steps, turns):
    return dict(flops=steps * n * n * (10 * turns + 60), bytes=steps * n * n * 8 * (2 * turns + 6))


def program(helper):
    """The formulas, of the inside; `helper` compiles a function where that is needed."""

    @helper
    def source(u, v, dx, dy, dt):
        ux, uy = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx), (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
        vx, vy = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx), (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        return DENSITY * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)

    @helper
    def pressed(p, b, dx, dy):
        return ((p[1:-1, 2:] + p[1:-1, :-2]) * dy**2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2
                - dx**2 * dy**2 * b) / (2 * (dx**2 + dy**2))

    @helper
    def moved(f, u, v, dx, dy, dt):
        centre = f[1:-1, 1:-1]
        return (centre - u[1:-1, 1:-1] * dt / dx * (centre - f[1:-1, :-2])
                - v[1:-1, 1:-1] * dt / dy * (centre - f[:-2, 1:-1])
                + VISCOSITY * (dt / dx**2 * (f[1:-1, 2:] - 2 * centre + f[1:-1, :-2])
                               + dt / dy**2 * (f[2:, 1:-1] - 2 * centre + f[:-2, 1:-1])))

    return source, pressed, moved


def in_place(helper):
    source, pressed, moved = program(helper)

    def cavity_flow(u, v, p, steps, turns):
        ny, nx = u.shape
        dx, dy, dt = 2 / (nx - 1), 2 / (ny - 1), 0.1 / ((nx - 1) * (ny - 1))
        for _ in range(steps):
            b = source(u, v, dx, dy, dt)
            for _ in range(turns):
                p[1:-1, 1:-1] = pressed(p, b, dx, dy)
                p[:, -1] = p[:, -2]
                p[0] = p[1]
                p[:, 0] = p[:, 1]
                p[-1] = 0.0
            new_u = moved(u, u, v, dx, dy, dt) - dt / (2 * DENSITY * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            new_v = moved(v, u, v, dx, dy, dt) - dt / (2 * DENSITY * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            u[1:-1, 1:-1] = new_u
            v[1:-1, 1:-1] = new_v
            u[0] = v[0] = v[-1] = 0.0
            u[:, 0] = u[:, -1] = v[:, 0] = v[:, -1] = 0.0
            u[-1] = 1.0
        return u, v, p

    return cavity_flow


def numpy(np):
    return in_place(lambda function: function)


torch = numpy


def numba(np):
    from numba import njit

    return njit(in_place(njit))


def jax(jnp):
    from jax import lax

    source, pressed, moved = program(lambda function: function)

    def cavity_flow(u, v, p, steps, turns):
        ny, nx = u.shape
        dx, dy, dt = 2 / (nx - 1), 2 / (ny - 1), 0.1 / ((nx - 1) * (ny - 1))

        def turn(p, b):
            p = p.at[1:-1, 1:-1].set(pressed(p, b, dx, dy))
            p = p.at[:, -1].set(p[:, -2])
            p = p.at[0].set(p[1])
            return p.at[:, 0].set(p[:, 1]).at[-1].set(0.0)

        def step(_, state):
            u, v, p = state
            b = source(u, v, dx, dy, dt)
            p = lax.fori_loop(0, turns, lambda _, p: turn(p, b), p)
            new_u = moved(u, u, v, dx, dy, dt) - dt / (2 * DENSITY * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            new_v = moved(v, u, v, dx, dy, dt) - dt / (2 * DENSITY * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            return jnp.pad(new_u, 1).at[-1].set(1.0), jnp.pad(new_v, 1), p

        return lax.fori_loop(0, steps, step, (u, v, p))

    return cavity_flow
