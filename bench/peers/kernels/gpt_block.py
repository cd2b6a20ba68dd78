"""A block of a transformer as in GPT-2, with causal attention of twelve heads, f32."""
SIZES = {"128": dict(rows=128, width=768), "1024": dict(rows=1024, width=768), "test": dict(rows=5, width=24)}
COMPILED = True
MISSING = {"numba": "has no attention or layer norm, and its products are NumPy's"}
HEADS = 12


def data(rng, rows, width):
    shapes = dict(x=(rows, width), g1=(width,), c1=(width,), wp=(width, 3 * width), bp=(3 * width,), wo=(width, width),
                  bo=(width,), g2=(width,), c2=(width,), wu=(width, 4 * width), bu=(4 * width,), wd=(4 * width, width),
                  bd=(width,))
    return {name: rng.standard_normal(shape, dtype="float32") * (1 if len(shape) == 1 or name == "x" else width**-0.5)
            for name, shape in shapes.items()}


def work(rows, width):
    # Causal attention needs half of each head's products.
    return dict(flops=2 * rows * 12 * width**2 + 2 * rows**2 * width,
                bytes=4 * (12 * width**2 + 2 * rows * width), dtype="f32")


def program(norm, heads, gelu):
    """`heads` gives what causal attention makes of queries, keys and values of (heads, rows, size)."""
    def block(x, g1, c1, wp, bp, wo, bo, g2, c2, wu, bu, wd, bd):
        rows, width = x.shape
        p = (norm(x, g1, c1) @ wp + bp).reshape(rows, 3, HEADS, width // HEADS)
        q, k, v = (p[:, i].swapaxes(0, 1) for i in range(3))
        x = x + heads(q, k, v).swapaxes(0, 1).reshape(rows, width) @ wo + bo
        return x + gelu(norm(x, g2, c2) @ wu + bu) @ wd + bd

    return block


def by_hand(m, erf, where):
    """With NumPy's names, which JAX has, too."""
    def norm(x, gain, offset):
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        return centred / m.sqrt(variance + m.float32(1e-5)) * gain + offset

    def heads(q, k, v):
        rows, size = q.shape[1:]
        scores = q @ k.swapaxes(1, 2) * m.float32(size**-0.5)
        scores = where(m.tri(rows, dtype=bool), scores, m.float32(-m.inf))
        powers = m.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True) @ v

    def gelu(x):
        return x * (m.float32(0.5) + m.float32(0.5) * erf(x * m.float32(0.5**0.5)))

    return program(norm, heads, gelu)


def numpy(np):
    from scipy.special import erf

    return by_hand(np, erf, np.where)


def jax(jnp):
    from jax.scipy.special import erf

    return by_hand(jnp, erf, jnp.where)


def torch(torch):
    from torch.nn import functional

    return program(lambda x, gain, offset: functional.layer_norm(x, gain.shape, gain, offset),
                   lambda q, k, v: functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0],
                   functional.gelu)
