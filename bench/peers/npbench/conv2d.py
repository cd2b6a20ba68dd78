"""A convolution of images in NHWC, with a bias, f32."""
SIZES = {"bench": dict(n=8, c_in=3, c_out=8, k=10, h=128, w=128), "test": dict(n=2, c_in=3, c_out=4, k=2, h=7, w=6)}
COMPILED = True
MISSING = {"numba": "has no convolution"}


def data(rng, n, c_in, c_out, k, h, w):
    return dict(x=rng.random((n, h, w, c_in), dtype="float32"), w=rng.random((k, k, c_in, c_out), dtype="float32"),
                bias=rng.random(c_out, dtype="float32"))


def work(n, c_in, c_out, k, h, w):
    outputs = n * (h - k + 1) * (w - k + 1) * c_out
    return dict(flops=2 * outputs * k * k * c_in, bytes=4 * (n * h * w * c_in + outputs), dtype="f32")


def numpy(np):
    def conv2d(x, w, bias):
        windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], axis=(1, 2))
        return np.tensordot(windows, w, axes=((4, 5, 3), (0, 1, 2))) + bias

    return conv2d


def jax(jnp):
    from jax import lax

    def conv2d(x, w, bias):
        return lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias

    return conv2d


def torch(torch):
    def conv2d(x, w, bias):
        return torch.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), bias).permute(0, 2, 3, 1)

    return conv2d
