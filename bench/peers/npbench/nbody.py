"""Bodies that attract each other, by leapfrog steps; the energies after each."""
SIZES = {"bench": dict(n=100, steps=250), "test": dict(n=5, steps=3)}
TOLERANCE = 1e-5  # a rounding grows from step to step
INPLACE = ("x", "v")


def data(rng, n, steps):
    import numpy as np

    return dict(mass=np.full(n, 20.0 / n), x=rng.random((n, 3)), v=rng.random((n, 3)), steps=steps, dt=0.01,
                softening=0.1)


def work(n, steps):
    return dict(flops=steps * 45 * n * n, bytes=16 * steps)


def program(np, power, triangle):
    def between(x):
        return x[None, :, :] - x[:, None, :]

    def acceleration(mass, x, softening):
        apart = between(x)
        squared = (apart**2).sum(2) + softening**2
        return (apart * (power(squared) * mass)[:, :, None]).sum(1)

    def energies(mass, x, v):
        apart = np.sqrt((between(x) ** 2).sum(2))
        near = np.where(apart > 0, 1 / np.where(apart > 0, apart, 1.0), 0.0)
        return 0.5 * (mass[:, None] * v * v).sum(), triangle(-(mass[:, None] * mass) * near, 1).sum()

    return acceleration, energies


def in_steps(np, power, triangle, stacked):
    acceleration, energies = program(np, power, triangle)

    def nbody(mass, x, v, steps, dt, softening):
        v -= (mass[:, None] * v).mean(0) / mass.mean()
        pull = acceleration(mass, x, softening)
        each = [energies(mass, x, v)]
        for _ in range(steps):
            v += pull * (dt / 2)
            x += v * dt
            pull = acceleration(mass, x, softening)
            v += pull * (dt / 2)
            each.append(energies(mass, x, v))
        return stacked([kinetic for kinetic, _ in each]), stacked([potential for _, potential in each])

    return nbody


def numpy(np):
    return in_steps(np, lambda x: x**-1.5, np.triu, np.array)


def torch(torch):
    return in_steps(torch, lambda x: x**-1.5, torch.triu, torch.stack)


def numba(np):
    from numba import njit, prange

    @njit(parallel=True, fastmath=True)
    def accelerate(mass, x, softening, pull):
        for i in prange(len(x)):
            a0 = a1 = a2 = 0.0
            for j in range(len(x)):
                d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                squared = d0 * d0 + d1 * d1 + d2 * d2 + softening * softening
                weight = mass[j] / (squared * np.sqrt(squared))
                a0 += d0 * weight
                a1 += d1 * weight
                a2 += d2 * weight
            pull[i, 0], pull[i, 1], pull[i, 2] = a0, a1, a2

    @njit(fastmath=True)
    def energies(mass, x, v):
        kinetic = potential = 0.0
        for i in range(len(x)):
            kinetic += 0.5 * mass[i] * (v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
            for j in range(i + 1, len(x)):
                d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                potential -= mass[i] * mass[j] / np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        return kinetic, potential

    @njit
    def nbody(mass, x, v, steps, dt, softening):
        for c in range(3):
            v[:, c] -= np.mean(mass * v[:, c]) / np.mean(mass)
        pull = np.empty_like(x)
        accelerate(mass, x, softening, pull)
        kinetic, potential = np.empty(steps + 1), np.empty(steps + 1)
        kinetic[0], potential[0] = energies(mass, x, v)
        for step in range(steps):
            v += pull * (dt / 2)
            x += v * dt
            accelerate(mass, x, softening, pull)
            v += pull * (dt / 2)
            kinetic[step + 1], potential[step + 1] = energies(mass, x, v)
        return kinetic, potential

    return nbody


def jax(jnp):
    from jax import lax

    acceleration, energies = program(jnp, lambda x: x**-1.5, jnp.triu)

    def nbody(mass, x, v, steps, dt, softening):
        v = v - (mass[:, None] * v).mean(0) / mass.mean()

        def step(state, _):
            x, v, pull = state
            v = v + pull * (dt / 2)
            x = x + v * dt
            pull = acceleration(mass, x, softening)
            v = v + pull * (dt / 2)
            return (x, v, pull), energies(mass, x, v)

        first = energies(mass, x, v)
        later = lax.scan(step, (x, v, acceleration(mass, x, softening)), None, steps)[1]
        return tuple(jnp.concatenate([a[None], b]) for a, b in zip(first, later))

    return nbody
