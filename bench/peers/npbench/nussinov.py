"""The greatest number of pairs in a folded strand of RNA, by Nussinov's table."""
SIZES = {"bench": dict(n=200), "test": dict(n=12)}
MISSING = {"torch": "element after element"}


def data(rng, n):
    return dict(strand=rng.integers(0, 4, n).astype("int32"))


def work(n):
    return dict(flops=n**3 / 3, bytes=4 * n * n, dtype="f32")


def numpy(np):
    def nussinov(strand):
        n = len(strand)
        table = np.zeros((n, n), "int32")
        for i in range(n - 2, -1, -1):
            for j in range(i + 1, n):
                pair = strand[i] + strand[j] == 3 and i < j - 1
                best = max(table[i, j - 1], table[i + 1, j], table[i + 1, j - 1] + pair)
                if j > i + 1:
                    best = max(best, (table[i, i + 1:j] + table[i + 2:j + 1, j]).max())
                table[i, j] = best
        return table

    return nussinov


def numba(np):
    from numba import njit

    @njit
    def nussinov(strand):
        n = len(strand)
        table = np.zeros((n, n), np.int32)
        for i in range(n - 2, -1, -1):
            for j in range(i + 1, n):
                pair = 1 if strand[i] + strand[j] == 3 and i < j - 1 else 0
                best = max(table[i, j - 1], table[i + 1, j], table[i + 1, j - 1] + pair)
                for k in range(i + 1, j):
                    best = max(best, table[i, k] + table[k + 1, j])
                table[i, j] = best
        return table

    return nussinov


def jax(jnp):
    from jax import lax

    def nussinov(strand):
        n = len(strand)
        place = jnp.arange(n)

        def row(back, table):
            i = n - 2 - back

            def element(j, table):
                pair = (strand[i] + strand[j] == 3) & (i < j - 1)
                best = jnp.maximum(jnp.maximum(table[i, j - 1], table[i + 1, j]), table[i + 1, j - 1] + pair)
                split = jnp.where((place > i) & (place < j), table[i] + jnp.roll(table[:, j], -1), 0)
                return table.at[i, j].set(jnp.maximum(best, split.max()))

            return lax.fori_loop(i + 1, n, element, table)

        return lax.fori_loop(0, n - 1, row, jnp.zeros((n, n), jnp.int32))

    return nussinov
