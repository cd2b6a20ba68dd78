"""A dense layer with relu, f32."""
SIZES = {"bench": dict(rows=512, width=1024), "test": dict(rows=5, width=9)}
COMPILED = True


def data(rng, rows, width):
    return dict(x=rng.standard_normal((rows, width), dtype="float32"),
                w=rng.standard_normal((width, width), dtype="float32") * width**-0.5,
                b=rng.standard_normal(width, dtype="float32"))


def work(rows, width):
    return dict(flops=2 * rows * width**2, bytes=4 * (2 * rows * width + width**2), dtype="f32")


def numpy(np):
    return lambda x, w, b: np.maximum(x @ w + b, np.float32(0))


numba = numpy


def jax(jnp):
    from jax import nn

    return lambda x, w, b: nn.relu(x @ w + b)


def torch(torch):
    return lambda x, w, b: torch.relu(x @ w + b)
