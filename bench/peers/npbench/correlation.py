"""The correlations of the columns of a table of N observations."""
SIZES = {"bench": dict(m=500, n=600), "test": dict(m=5, n=8)}
COMPILED = True


def data(rng, m, n):
    return dict(data=rng.random((n, m)))


def work(m, n):
    return dict(flops=n * m * m, bytes=8 * (n * m + m * m))


def numpy(np):
    def correlation(data):
        n, m = data.shape
        spread = data.std(axis=0)
        unit = (data - data.mean(axis=0)) / (np.sqrt(n) * np.where(spread <= 0.1, 1.0, spread))
        result = unit.T @ unit
        np.fill_diagonal(result, 1.0)
        return result

    return correlation


def numba(np):
    def correlation(data):
        n, m = data.shape
        mean, spread = np.empty(m), np.empty(m)
        for j in range(m):
            mean[j] = np.mean(data[:, j])
            spread[j] = np.std(data[:, j])
        unit = (data - mean) / (np.sqrt(n) * np.where(spread <= 0.1, 1.0, spread))
        result = unit.T @ unit
        np.fill_diagonal(result, 1.0)
        return result

    return correlation


def jax(jnp):
    def correlation(data):
        n, m = data.shape
        spread = data.std(axis=0)
        unit = (data - data.mean(axis=0)) / (jnp.sqrt(n) * jnp.where(spread <= 0.1, 1.0, spread))
        return jnp.fill_diagonal(unit.T @ unit, 1.0, inplace=False)

    return correlation


def torch(torch):
    def correlation(data):
        n, m = data.shape
        spread = data.std(dim=0, correction=0)
        unit = (data - data.mean(dim=0)) / (n**0.5 * torch.where(spread <= 0.1, 1.0, spread))
        return (unit.T @ unit).fill_diagonal_(1.0)

    return correlation
