"""Three dense layers, relu after the first two and a softmax at the end, f32."""
SIZES = {"bench": dict(n=8, widths=(3, 30000, 2000, 2000)), "test": dict(n=2, widths=(3, 9, 5, 4))}
COMPILED = True


def data(rng, n, widths):
    values = dict(x=rng.random((n, widths[0]), dtype="float32"))
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:]), 1):
        values[f"w{i}"] = (rng.random((inputs, outputs), dtype="float32") - 0.5) / inputs**0.5
        values[f"b{i}"] = rng.random(outputs, dtype="float32")
    return {name: value.astype("float32") for name, value in values.items()}


def work(n, widths):
    weights = sum(a * b for a, b in zip(widths, widths[1:]))
    return dict(flops=2 * n * weights, bytes=4 * weights, dtype="f32")


def program(relu, softmax):
    def mlp(x, w1, b1, w2, b2, w3, b3):
        x = relu(x @ w1 + b1)
        x = relu(x @ w2 + b2)
        return softmax(x @ w3 + b3)

    return mlp


def numpy(np):
    def softmax(x):
        powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return powers / np.sum(powers, axis=-1, keepdims=True)

    return program(lambda x: np.maximum(x, 0), softmax)


def numba(np):
    def mlp(x, w1, b1, w2, b2, w3, b3):
        x = np.maximum(x @ w1 + b1, np.float32(0))
        x = np.maximum(x @ w2 + b2, np.float32(0))
        x = x @ w3 + b3
        for i in range(len(x)):
            powers = np.exp(x[i] - np.max(x[i]))
            x[i] = powers / np.sum(powers)
        return x

    return mlp


def jax(jnp):
    from jax import nn

    return program(nn.relu, nn.softmax)


def torch(torch):
    return program(torch.relu, lambda x: torch.softmax(x, -1))
