"""Flow in a channel that a force drives, until it is steady; what leaves on the right comes in on the left.

The last steps of Barba and Forsyth, CFD Python: the 12 steps to Navier-Stokes equations, doi:10.21105/jose.00021.
"""
SIZES = {"bench": dict(n=61, turns=5), "test": dict(n=7, turns=2)}
INPLACE = ("u", "v", "p")
DENSITY, VISCOSITY, FORCE = 1.0, 0.1, 1.0
STEPS = 1000  # about as many as it takes at first: the flow grows by the same each step


def data(rng, n, turns):
    import numpy as np

    return dict(u=np.zeros((n, n)), v=np.zeros((n, n)), p=np.ones((n, n)), turns=turns)


def work(n, turns):
    return dict(flops=STEPS * n * n * (10 * turns + 60), bytes=STEPS * n * n * 8 * (2 * turns + 6))


def program(left, right):
    def source(u, v, dx, dy, dt):
        ux, uy = (right(u[1:-1]) - left(u[1:-1])) / (2 * dx), (u[2:] - u[:-2]) / (2 * dy)
        vx, vy = (right(v[1:-1]) - left(v[1:-1])) / (2 * dx), (v[2:] - v[:-2]) / (2 * dy)
        return DENSITY * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)

    def pressed(p, b, dx, dy):
        return ((right(p[1:-1]) + left(p[1:-1])) * dy**2 + (p[2:] + p[:-2]) * dx**2
                - dx**2 * dy**2 * b) / (2 * (dx**2 + dy**2))

    def moved(f, u, v, dx, dy, dt):
        centre = f[1:-1]
        return (centre - u[1:-1] * dt / dx * (centre - left(centre)) - v[1:-1] * dt / dy * (centre - f[:-2])
                + VISCOSITY * (dt / dx**2 * (right(centre) - 2 * centre + left(centre))
                               + dt / dy**2 * (f[2:] - 2 * centre + f[:-2])))

    def velocities(u, v, p, dx, dy, dt):
        return (moved(u, u, v, dx, dy, dt) - dt / (2 * DENSITY * dx) * (right(p[1:-1]) - left(p[1:-1])) + FORCE * dt,
                moved(v, u, v, dx, dy, dt) - dt / (2 * DENSITY * dy) * (p[2:] - p[:-2]))

    return source, pressed, velocities


def spacing(u):
    ny, nx = u.shape
    return 2 / (nx - 1), 2 / (ny - 1), 0.1 / ((nx - 1) * (ny - 1))


def in_place(left, right):
    source, pressed, velocities = program(left, right)

    def channel_flow(u, v, p, turns):
        dx, dy, dt = spacing(u)
        change = 1.0
        while change > 0.001:
            b = source(u, v, dx, dy, dt)
            for _ in range(turns):
                p[1:-1] = pressed(p, b, dx, dy)
                p[-1], p[0] = p[-2], p[1]
            before = u.sum()
            u[1:-1], v[1:-1] = velocities(u, v, p, dx, dy, dt)
            change = (u.sum() - before) / u.sum()
        return u, v, p

    return channel_flow


def numpy(np):
    return in_place(lambda x: np.roll(x, 1, 1), lambda x: np.roll(x, -1, 1))


def torch(torch):
    return in_place(lambda x: torch.roll(x, 1, 1), lambda x: torch.roll(x, -1, 1))


def jax(jnp):
    from jax import lax

    source, pressed, velocities = program(lambda x: jnp.roll(x, 1, 1), lambda x: jnp.roll(x, -1, 1))

    def channel_flow(u, v, p, turns):
        dx, dy, dt = spacing(u)

        def turn(p, b):
            inside = pressed(p, b, dx, dy)
            return jnp.concatenate([inside[:1], inside, inside[-1:]])

        def step(state):
            _, u, v, p = state
            b = source(u, v, dx, dy, dt)
            p = lax.fori_loop(0, turns, lambda _, p: turn(p, b), p)
            new_u, new_v = (jnp.pad(x, ((1, 1), (0, 0))) for x in velocities(u, v, p, dx, dy, dt))
            return (new_u.sum() - u.sum()) / new_u.sum(), new_u, new_v, p

        return lax.while_loop(lambda state: state[0] > 0.001, step, (jnp.float64(1), u, v, p))[1:]

    return channel_flow


def numba(np):
    from numba import njit

    @njit
    def poisson(p, q, u, v, b, dx, dy, dt, turns):
        ny, nx = p.shape
        for i in range(1, ny - 1):
            for j in range(nx):
                left, right = (j - 1) % nx, (j + 1) % nx
                ux, uy = (u[i, right] - u[i, left]) / (2 * dx), (u[i + 1, j] - u[i - 1, j]) / (2 * dy)
                vx, vy = (v[i, right] - v[i, left]) / (2 * dx), (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
                b[i, j] = DENSITY * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)
        for _ in range(turns):
            q[:] = p
            for i in range(1, ny - 1):
                for j in range(nx):
                    left, right = (j - 1) % nx, (j + 1) % nx
                    p[i, j] = ((q[i, right] + q[i, left]) * dy**2 + (q[i + 1, j] + q[i - 1, j]) * dx**2
                               - dx**2 * dy**2 * b[i, j]) / (2 * (dx**2 + dy**2))
            p[ny - 1] = p[ny - 2]
            p[0] = p[1]

    @njit(inline="always")
    def moved(f, u, v, i, j, left, right, dx, dy, dt):
        centre = f[i, j]
        return (centre - u[i, j] * dt / dx * (centre - f[i, left]) - v[i, j] * dt / dy * (centre - f[i - 1, j])
                + VISCOSITY * (dt / dx**2 * (f[i, right] - 2 * centre + f[i, left])
                               + dt / dy**2 * (f[i + 1, j] - 2 * centre + f[i - 1, j])))

    @njit
    def move(u, v, p, new_u, new_v, dx, dy, dt):
        ny, nx = p.shape
        for i in range(1, ny - 1):
            for j in range(nx):
                left, right = (j - 1) % nx, (j + 1) % nx
                new_u[i, j] = (moved(u, u, v, i, j, left, right, dx, dy, dt)
                               - dt / (2 * DENSITY * dx) * (p[i, right] - p[i, left]) + FORCE * dt)
                new_v[i, j] = (moved(v, u, v, i, j, left, right, dx, dy, dt)
                               - dt / (2 * DENSITY * dy) * (p[i + 1, j] - p[i - 1, j]))

    @njit
    def channel_flow(u, v, p, turns):
        ny, nx = u.shape
        dx, dy, dt = 2 / (nx - 1), 2 / (ny - 1), 0.1 / ((nx - 1) * (ny - 1))
        q, b, new_u, new_v = np.empty_like(p), np.empty_like(p), np.zeros_like(u), np.zeros_like(v)
        change = 1.0
        while change > 0.001:
            poisson(p, q, u, v, b, dx, dy, dt, turns)
            move(u, v, p, new_u, new_v, dx, dy, dt)
            change = (new_u.sum() - u.sum()) / new_u.sum()
            u[:] = new_u
            v[:] = new_v
        return u, v, p

    return channel_flow
