"""A dense layer with gelu (by the error function), f32."""
from kernels.dense_relu import COMPILED, SIZES, data, work


def numpy(np):
    from scipy.special import erf

    def dense_gelu(x, w, b):
        y = x @ w + b
        return y * (np.float32(0.5) + np.float32(0.5) * erf(y * np.float32(0.5**0.5)))

    return dense_gelu


def numba(np):
    import math

    from numba import njit, prange

    @njit(parallel=True, fastmath=True)
    def dense_gelu(x, w, b):
        y = x @ w
        for i in prange(y.shape[0]):
            for j in range(y.shape[1]):
                z = y[i, j] + b[j]
                y[i, j] = z * (np.float32(0.5) + np.float32(0.5) * math.erf(z * np.float32(0.5**0.5)))
        return y

    return dense_gelu


def jax(jnp):
    from jax import nn

    return lambda x, w, b: nn.gelu(x @ w + b, approximate=False)


def torch(torch):
    return lambda x, w, b: torch.nn.functional.gelu(x @ w + b)
