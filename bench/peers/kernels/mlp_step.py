"""A step of gradient descent of two dense layers with relu between, on a batch, f32."""
SIZES = {"bench": dict(batch=128, widths=(784, 128, 10)), "test": dict(batch=6, widths=(9, 5, 4))}
COMPILED = True
NAMES = ("w1", "b1", "w2", "b2")


def data(rng, batch, widths):
    values = dict(x=rng.random((batch, widths[0]), dtype="float32"), labels=rng.integers(0, widths[2], batch))
    for name, shape in zip(NAMES, (widths[:2], widths[1:2], widths[1:], widths[2:])):
        values[name] = (rng.standard_normal(shape, dtype="float32") * 0.1).astype("float32")
    return values


def work(batch, widths):
    a, b, c = widths
    return dict(flops=2 * batch * (2 * a * b + 3 * b * c), bytes=4 * (batch * a + 2 * (a * b + b * c)), dtype="f32")


def numpy(np):
    rate = np.float32(0.1)

    def step(x, labels, w1, b1, w2, b2):
        rows = len(x)
        hidden = np.maximum(x @ w1 + b1, np.float32(0))
        logits = hidden @ w2 + b2
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        slope = powers / powers.sum(axis=1, keepdims=True)
        slope[np.arange(rows), labels] -= np.float32(1)
        slope /= np.float32(rows)
        before = (slope @ w2.T) * (hidden > 0)
        return (w1 - rate * (x.T @ before), b1 - rate * before.sum(axis=0),
                w2 - rate * (hidden.T @ slope), b2 - rate * slope.sum(axis=0))

    return step


def numba(np):
    rate = np.float32(0.1)

    def step(x, labels, w1, b1, w2, b2):
        rows = len(x)
        hidden = np.maximum(x @ w1 + b1, np.float32(0))
        slope = hidden @ w2 + b2
        for i in range(rows):
            powers = np.exp(slope[i] - slope[i].max())
            slope[i] = powers / (powers.sum() * np.float32(rows))
            slope[i, labels[i]] -= np.float32(1) / np.float32(rows)
        before = np.where(hidden > 0, slope @ w2.T, np.float32(0))
        return (w1 - rate * (x.T @ before), b1 - rate * before.sum(axis=0),
                w2 - rate * (hidden.T @ slope), b2 - rate * slope.sum(axis=0))

    return step


def jax(jnp):
    import jax

    def loss(layers, x, labels):
        w1, b1, w2, b2 = layers
        logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

    def step(x, labels, w1, b1, w2, b2):
        layers = (w1, b1, w2, b2)
        return tuple(layer - 0.1 * slope for layer, slope in zip(layers, jax.grad(loss)(layers, x, labels)))

    return step


def torch(torch):
    def loss(layers, x, labels):
        w1, b1, w2, b2 = layers
        return torch.nn.functional.cross_entropy(torch.relu(x @ w1 + b1) @ w2 + b2, labels)

    def step(x, labels, w1, b1, w2, b2):
        layers = (w1, b1, w2, b2)
        with torch.enable_grad():
            slopes = torch.func.grad(loss)(layers, x, labels)
        return tuple(layer - 0.1 * slope for layer, slope in zip(layers, slopes))

    return step
