"""LeNet-5 on images in NHWC: two convolutions with pools, three dense layers, f32."""
SIZES = {"bench": dict(n=8, size=56), "test": dict(n=2, size=16)}
COMPILED = True
MISSING = {"numba": "has no convolution"}


def pooled(size):
    return (size - 4) // 2


def data(rng, n, size):
    features = 16 * pooled(pooled(size)) ** 2
    shapes = dict(x=(n, size, size, 1), conv1=(5, 5, 1, 6), bias1=(6,), conv2=(5, 5, 6, 16), bias2=(16,),
                  w1=(features, 120), b1=(120,), w2=(120, 84), b2=(84,), w3=(84, 10), b3=(10,))
    return {name: rng.random(shape, dtype="float32") for name, shape in shapes.items()}


def work(n, size):
    first, second = size - 4, pooled(size) - 4
    features = 16 * (second // 2) ** 2
    dense = features * 120 + 120 * 84 + 84 * 10
    return dict(flops=2 * n * (first**2 * 25 * 6 + second**2 * 25 * 6 * 16 + dense),
                bytes=4 * (n * size * size + dense), dtype="f32")


def program(layer, relu):
    def lenet(x, conv1, bias1, conv2, bias2, w1, b1, w2, b2, w3, b3):
        x = layer(layer(x, conv1, bias1), conv2, bias2).reshape(len(x), -1)
        return relu(relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3

    return lenet


def numpy(np):
    def layer(x, w, bias):
        windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], axis=(1, 2))
        y = np.maximum(np.tensordot(windows, w, axes=((4, 5, 3), (0, 1, 2))) + bias, 0)
        n, height, width, channels = y.shape
        y = y[:, :height // 2 * 2, :width // 2 * 2]
        return y.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))

    return program(layer, lambda x: np.maximum(x, 0))


def jax(jnp):
    from jax import lax, nn

    def layer(x, w, bias):
        y = nn.relu(lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias)
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    return program(layer, nn.relu)


def torch(torch):
    def layer(x, w, bias):
        y = torch.relu(torch.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), bias))
        return torch.max_pool2d(y, 2).permute(0, 2, 3, 1)

    return program(layer, torch.relu)
