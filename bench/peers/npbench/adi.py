"""Heat on a square by alternating directions: tridiagonal systems along columns, then rows."""
SIZES = {"bench": dict(n=200, steps=20), "test": dict(n=8, steps=2)}
INPLACE = ("u",)


def data(rng, n, steps):
    return dict(u=rng.random((n, n)), steps=steps)


def work(n, steps):
    return dict(flops=steps * 30 * n * n, bytes=steps * 4 * 8 * n * n)


def factors(n, steps):
    mul1, mul2 = 2.0 / steps * n * n, 1.0 / steps * n * n
    return -mul1 / 2, -mul2 / 2, 1 + mul2


def numpy(np):
    def adi(u, steps):
        n = len(u)
        a, d, diagonal = factors(n, steps)
        v, p, q = np.empty_like(u), np.empty_like(u), np.empty_like(u)
        for _ in range(steps):
            v[0, 1:-1] = v[-1, 1:-1] = q[1:-1, 0] = 1.0
            p[1:-1, 0] = 0.0
            for j in range(1, n - 1):
                pivot = a * p[1:-1, j - 1] + diagonal
                p[1:-1, j] = -a / pivot
                right = -d * u[j, :-2] + (1 + 2 * d) * u[j, 1:-1] - d * u[j, 2:]
                q[1:-1, j] = (right - a * q[1:-1, j - 1]) / pivot
            for j in range(n - 2, 0, -1):
                v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
            u[1:-1, 0] = u[1:-1, -1] = q[1:-1, 0] = 1.0
            p[1:-1, 0] = 0.0
            for j in range(1, n - 1):
                pivot = d * p[1:-1, j - 1] + diagonal
                p[1:-1, j] = -d / pivot
                right = -a * v[:-2, j] + (1 + 2 * a) * v[1:-1, j] - a * v[2:, j]
                q[1:-1, j] = (right - d * q[1:-1, j - 1]) / pivot
            for j in range(n - 2, 0, -1):
                u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
        return u

    return adi


torch = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def adi(u, steps):
        n = len(u)
        mul1, mul2 = 2.0 / steps * n * n, 1.0 / steps * n * n
        a, d, diagonal = -mul1 / 2, -mul2 / 2, 1 + mul2
        v = np.ones_like(u)
        for _ in range(steps):
            for i in prange(1, n - 1):
                p, q = np.zeros(n), np.ones(n)
                for j in range(1, n - 1):
                    pivot = a * p[j - 1] + diagonal
                    p[j] = -a / pivot
                    right = -d * u[j, i - 1] + (1 + 2 * d) * u[j, i] - d * u[j, i + 1]
                    q[j] = (right - a * q[j - 1]) / pivot
                for j in range(n - 2, 0, -1):
                    v[j, i] = p[j] * v[j + 1, i] + q[j]
            for i in prange(1, n - 1):
                p, q = np.zeros(n), np.ones(n)
                u[i, 0] = u[i, n - 1] = 1.0
                for j in range(1, n - 1):
                    pivot = d * p[j - 1] + diagonal
                    p[j] = -d / pivot
                    right = -a * v[i - 1, j] + (1 + 2 * a) * v[i, j] - a * v[i + 1, j]
                    q[j] = (right - d * q[j - 1]) / pivot
                for j in range(n - 2, 0, -1):
                    u[i, j] = p[j] * u[i, j + 1] + q[j]
        return u

    return adi


def jax(jnp):
    from jax import lax

    def solved(before, diagonal, right):
        def forward(state, r):
            p, q = state
            pivot = before * p + diagonal
            state = -before / pivot, (r - before * q) / pivot
            return state, state

        def backward(value, pq):
            value = pq[0] * value + pq[1]
            return value, value

        ones = jnp.ones_like(right[0])
        pq = lax.scan(forward, (jnp.zeros_like(ones), ones), right)[1]
        return jnp.pad(lax.scan(backward, ones, pq, reverse=True)[1], ((1, 1), (0, 0)), constant_values=1.0)

    def adi(u, steps):
        a, d, diagonal = factors(len(u), steps)

        def step(_, u):
            v = solved(a, diagonal, -d * u[1:-1, :-2] + (1 + 2 * d) * u[1:-1, 1:-1] - d * u[1:-1, 2:])
            return u.at[1:-1].set(solved(d, diagonal, (-a * v[:-2] + (1 + 2 * a) * v[1:-1] - a * v[2:]).T).T)

        return lax.fori_loop(0, steps, step, u)

    return adi
