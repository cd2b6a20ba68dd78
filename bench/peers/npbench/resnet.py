"""A bottleneck block of ResNet-50 on images in NHWC, normalised over the batch, f32."""
SIZES = {"bench": dict(n=8, size=28, c1=64, c2=16), "test": dict(n=3, size=6, c1=4, c2=3)}
COMPILED = True
MISSING = {"numba": "has no convolution"}
TOLERANCE = 1e-3


def data(rng, n, size, c1, c2):
    shapes = dict(x=(n, size, size, c1), conv1=(1, 1, c1, c2), conv2=(3, 3, c2, c2), conv3=(1, 1, c2, c1))
    return {name: rng.random(shape, dtype="float32") for name, shape in shapes.items()}


def work(n, size, c1, c2):
    return dict(flops=2 * n * size * size * (2 * c1 * c2 + 9 * c2 * c2), bytes=8 * n * size * size * c1, dtype="f32")


def program(conv, relu, sqrt, padded, spread):
    def normalised(y):
        return (y - y.mean(0)) / sqrt(spread(y) + 1e-5)

    def resnet(x, conv1, conv2, conv3):
        y = relu(normalised(padded(conv(x, conv1))))
        y = relu(normalised(conv(y, conv2)))
        return relu(normalised(conv(y, conv3)) + x)

    return resnet


def numpy(np):
    def conv(x, w):
        windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], axis=(1, 2))
        return np.tensordot(windows, w, axes=((4, 5, 3), (0, 1, 2)))

    return program(conv, lambda x: np.maximum(x, 0), np.sqrt, lambda x: np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))),
                   lambda y: y.std(0))


def jax(jnp):
    from jax import lax, nn

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return program(conv, nn.relu, jnp.sqrt, lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), lambda y: y.std(0))


def torch(torch):
    def conv(x, w):
        return torch.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1)).permute(0, 2, 3, 1)

    return program(conv, torch.relu, torch.sqrt, lambda x: torch.nn.functional.pad(x, (0, 0, 1, 1, 1, 1)),
                   lambda y: y.std(0, correction=0))
