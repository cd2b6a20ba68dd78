"""A Fourier transform of R^K points by K passes of Stockham's method, one DFT of R each."""
SIZES = {"bench": dict(r=2, k=18), "test": dict(r=2, k=4)}


def data(rng, r, k):
    return dict(x=rng.random(r**k) + 1j * rng.random(r**k), r=r, k=k)


def work(r, k):
    return dict(flops=k * (8 * r + 6) * r**k, bytes=k * 32 * r**k)


def numpy(np):
    def stockham_fft(x, r, k):
        digit = np.arange(r)
        dft = np.exp(-2j * np.pi * digit[:, None] * digit / r)
        y, done = x, 1
        for _ in range(k):
            parts = y.reshape(done, r, -1).transpose(1, 0, 2)
            twiddles = np.exp(-2j * np.pi * digit[:, None] * np.arange(done) / (done * r))
            y = (dft @ (parts * twiddles[:, :, None]).reshape(r, -1)).reshape(-1)
            done *= r
        return y

    return stockham_fft


jax = numpy


def numba(np):
    from numba import njit, prange

    @njit(parallel=True)
    def turn(x, y, dft, twiddles, done, left, r):
        for place in prange(done * left):
            s, t = place // left, place % left
            for a in range(r):
                total = 0j
                for b in range(r):
                    total += dft[a, b] * twiddles[b, s] * x[(s * r + b) * left + t]
                y[(a * done + s) * left + t] = total

    @njit
    def stockham_fft(x, r, k):
        dft = np.exp(-2j * np.pi / r * np.outer(np.arange(r), np.arange(r)))
        done, left = 1, len(x) // r
        for _ in range(k):
            y = np.empty_like(x)
            twiddles = np.exp(-2j * np.pi / (done * r) * np.outer(np.arange(r), np.arange(done)))
            turn(x, y, dft, twiddles, done, left, r)
            x = y
            done *= r
            left //= r
        return x

    return stockham_fft


def torch(torch):
    import math

    def stockham_fft(x, r, k):
        digit = torch.arange(r, dtype=torch.float64)
        dft = torch.exp(-2j * math.pi / r * digit[:, None] * digit)
        y, done = x, 1
        for _ in range(k):
            parts = y.reshape(done, r, -1).permute(1, 0, 2)
            angles = -2 * math.pi / (done * r) * digit[:, None] * torch.arange(done)
            twiddles = torch.polar(torch.ones_like(angles), angles)
            y = (dft @ (parts * twiddles[:, :, None]).reshape(r, -1)).reshape(-1)
            done *= r
        return y

    return stockham_fft
