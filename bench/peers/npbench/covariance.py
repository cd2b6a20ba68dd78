"""The covariances of the columns of a table of N observations."""
SIZES = {"bench": dict(m=500, n=600), "test": dict(m=5, n=8)}
COMPILED = True


def data(rng, m, n):
    return dict(data=rng.random((n, m)))


def work(m, n):
    return dict(flops=n * m * m, bytes=8 * (n * m + m * m))


def numpy(np):
    def covariance(data):
        centred = data - data.mean(axis=0)
        return centred.T @ centred / (len(data) - 1)

    return covariance


jax = torch = numpy


def numba(np):
    def covariance(data):
        n, m = data.shape
        mean = np.empty(m)
        for j in range(m):
            mean[j] = np.mean(data[:, j])
        centred = data - mean
        return centred.T @ centred / (n - 1)

    return covariance
