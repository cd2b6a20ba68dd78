"""Poisson's equation on a square grid by steps of conjugate gradients."""
SIZES = {"bench": dict(n=512, steps=100), "test": dict(n=7, steps=3)}


def data(rng, n, steps):
    return dict(b=rng.random((n, n)), steps=steps)


def work(n, steps):
    return dict(flops=steps * 16 * n * n, bytes=steps * 8 * 8 * n * n)


def program(np, laplacian, repeat):
    def conjugate_gradients(b, steps):
        def step(state):
            x, r, p, squared = state
            q = laplacian(p)
            alpha = squared / (p * q).sum()
            rest = r - alpha * q
            following = (rest * rest).sum()
            return x + alpha * p, rest, rest + following / squared * p, following

        return repeat(steps, step, (np.zeros_like(b), b, b, (b * b).sum()))[0]

    return conjugate_gradients


def repeat(steps, step, state):
    for _ in range(steps):
        state = step(state)
    return state


def padded(np):
    def laplacian(x):
        y = np.pad(x, 1)
        return 4.0 * x - y[:-2, 1:-1] - y[2:, 1:-1] - y[1:-1, :-2] - y[1:-1, 2:]

    return laplacian


def numpy(np):
    return program(np, padded(np), repeat)


def jax(jnp):
    from jax import lax

    return program(jnp, padded(jnp), lambda steps, step, state: lax.fori_loop(0, steps, lambda _, s: step(s), state))
