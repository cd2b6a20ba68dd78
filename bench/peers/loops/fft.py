"""The Fourier transform of a vector of complex numbers."""
SIZES = {"bench": dict(n=262144), "test": dict(n=16)}


def data(rng, n):
    return dict(x=rng.random(n) + 1j * rng.random(n))


def work(n):
    return dict(flops=5 * n * (n.bit_length() - 1), bytes=32 * n)


def numpy(np):
    return lambda x: np.fft.fft(x)


def jax(jnp):
    return lambda x: jnp.fft.fft(x)


def torch(torch):
    return lambda x: torch.fft.fft(x)
