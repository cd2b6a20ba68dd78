"""Slopes of surfaces of equal density in the ocean, and the mixing along them (Griffies et al., 1998)."""
SIZES = {"64k": dict(size=65536), "1M": dict(size=1048576), "4M": dict(size=4194304), "test": dict(size=64)}
INPLACE = ("k_11", "k_22", "k_33")
TOLERANCE = 1e-8
MAY_DIFFER = 5e-3  # a steep slope multiplies the rounding of the 1 - tanh that it is tapered with
RHO0 = 1024.0


def data(rng, size):
    import math

    wide, deep = math.ceil(2 * size ** (1 / 3)), max(3, math.ceil(0.25 * size ** (1 / 3)))
    shape = (wide, wide, deep)
    values = {f"mask_{c}": (rng.random(shape) < 0.8).astype("f8") for c in "tuvw"}
    values |= {name: rng.standard_normal(wide) for name in ("dxt", "dxu", "dyt", "dyu", "cost", "cosu")}
    values |= {name: rng.standard_normal(deep) for name in ("dzt", "dzw", "zt")}
    values |= {name: rng.standard_normal((*shape, 3)) for name in ("salt", "temp")}
    return values | {name: rng.standard_normal(shape) for name in ("k_iso", "k_11", "k_22", "k_33")}


def work(size):
    return dict(flops=16 * 45 * size, bytes=8 * size * (4 + 2 + 1 + 3 + 3 + 16))


def program(np, assign):
    """`assign(array, index, value)` gives the array with a part replaced."""

    def slope_of(along, down):
        return -along / (np.where(down < 0.0, down, 0.0) - 1e-20)

    def taper(slope):
        return 0.5 * (1.0 + np.tanh((1e-3 - np.abs(slope)) / 1e-3))

    def above(f):
        return np.concatenate([np.zeros_like(f[..., :1]), f[..., :-1]], -1)

    def stacked(four):
        return np.stack(four, -1).reshape((*four[0].shape, 2, 2))

    def sides(density, along, down, mask, k_iso, dzt, dzw, first, second):
        """Faces between the cells `first` and `second`: the mixing and the slopes."""
        k_sum = k_iso[first] + k_iso[second]
        mixing = 0.25 * (k_sum + above(k_sum))
        mixing = assign(mixing, (Ellipsis, 0), 0.5 * k_sum[..., 0])
        sums, slopes = np.zeros_like(mixing), []
        for place in (first, second):
            change = density[0][place] * along[0][first] + density[1][place] * along[1][first]
            for below in (False, True):
                t, s = (down[0][place], down[1][place]) if below else (above(down[0][place]), above(down[1][place]))
                slope = slope_of(change, density[0][place] * t + density[1][place] * s)
                counts = taper(slope)
                mixed = np.where(mixing * counts > 50.0, mixing * counts, 50.0)
                sums = sums + (dzw if below else above(dzw)) * mask[first] * mixed
                slopes.append(counts * slope * mask[first])
        return sums / (4.0 * dzt), stacked(slopes)

    def bottoms(density, along, down, mask, k_iso, places, widths):
        """Faces between a cell and the one below it, by slopes at two sides."""
        inner = (slice(2, -2), slice(2, -2))
        mask, k = mask[inner][..., :-1], k_iso[inner][..., :-1]
        sums, slopes = np.zeros_like(k), []
        for place, width in zip(places, widths):
            for levels in (slice(None, -1), slice(1, None)):
                t, s = density[0][inner][..., levels], density[1][inner][..., levels]
                change = t * down[0][inner][..., :-1] + s * down[1][inner][..., :-1]
                slope = slope_of(t * along[0][place][..., levels] + s * along[1][place][..., levels], change)
                counts = taper(slope)
                sums = sums + width * k * counts * slope**2 * mask
                slopes.append(counts * slope * mask)
        return sums, stacked(slopes)

    def gradient(f, mask, distance, axis):
        start, stop = ((slice(None),) * axis + (part,) for part in (slice(None, -1), slice(1, None)))
        return assign(np.zeros_like(mask), start, mask[start] * (f[stop] - f[start]) / distance)

    def isoneutral_mixing(mask_t, mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, cost, cosu, dzt, dzw, zt, salt, temp,
                          k_iso, k_11, k_22, k_33):
        tracers = temp[..., 0], salt[..., 0]
        expansion = 1e-5 * (tracers[0] - (283.0 - 273.15)) + 1.67e-4 * (1.0 + 1.1e-8 * 9.81 * RHO0 * np.abs(zt))
        density = -RHO0 * mask_t * expansion, 0.78e-3 * RHO0 * mask_t
        x = [gradient(f, mask_u, dxu[:-1, None, None] * cost[:, None], 0) for f in tracers]
        y = [gradient(f, mask_v, dyu[:-1, None], 1) for f in tracers]
        z = [gradient(f, mask_w, dzw[:-1], 2) for f in tracers]
        inner, near, far = slice(2, -2), slice(1, -2), slice(2, -1)
        east, ez = sides(density, x, z, mask_u, k_iso, dzt, dzw, (near, inner), (far, inner))
        north, nz = sides(density, y, z, mask_v, k_iso, dzt, dzw, (inner, near), (inner, far))
        faces = slice(1, -3), slice(2, -2)
        sum_x, bx = bottoms(density, x, z, mask_w, k_iso, [(f, inner) for f in faces],
                            [dxu[f, None, None] for f in faces])
        sum_y, by = bottoms(density, y, z, mask_w, k_iso, [(inner, f) for f in faces],
                            [(cosu * dyu)[f, None] for f in faces])
        area = 4 * dyt[inner, None] * cost[inner, None]
        none = np.zeros_like(np.stack([np.stack([k_11, k_11], -1)] * 2, -1))
        levels = slice(None, -1)
        k_33 = assign(k_33, (inner, inner, levels), sum_x / (4 * dxt[inner, None, None]) + sum_y / area)
        return (assign(k_11, (near, inner), east), assign(k_22, (inner, near), north),
                assign(k_33, (inner, inner, -1), 0.0), assign(none + 0.0, (near, inner), ez),
                assign(none + 0.0, (inner, near), nz), assign(none + 0.0, (inner, inner, levels), bx),
                assign(none + 0.0, (inner, inner, levels), by))

    return isoneutral_mixing


def in_place(array, index, value):
    array[index] = value
    return array


def numpy(np):
    return program(np, in_place)


torch = numpy


def jax(jnp):
    return program(jnp, lambda array, index, value: array.at[index].set(value))


def numba(np):
    from numba import njit, prange

    @njit(inline="always")
    def slope_of(along, down):
        return -along / (min(0.0, down) - 1e-20)

    @njit(inline="always")
    def taper(slope):
        return 0.5 * (1.0 + np.tanh((1e-3 - abs(slope)) / 1e-3))

    @njit(parallel=True)
    def gradients(t, s, mask_t, mask_u, mask_v, mask_w, dxu, dyu, dzw, cost, zt, rt, rs, tx, sx, ty, sy, tz, sz):
        nx, ny, nz = mask_t.shape
        for i in prange(nx):
            for j in range(ny):
                for k in range(nz):
                    expansion = 1e-5 * (t[i, j, k, 0] - (283.0 - 273.15)) + 1.67e-4 * (
                        1.0 + 1.1e-8 * 9.81 * RHO0 * abs(zt[k]))
                    rt[i, j, k], rs[i, j, k] = -RHO0 * mask_t[i, j, k] * expansion, 0.78e-3 * RHO0 * mask_t[i, j, k]
                    if i < nx - 1:
                        scale = mask_u[i, j, k] / (dxu[i] * cost[j])
                        tx[i, j, k] = (t[i + 1, j, k, 0] - t[i, j, k, 0]) * scale
                        sx[i, j, k] = (s[i + 1, j, k, 0] - s[i, j, k, 0]) * scale
                    if j < ny - 1:
                        scale = mask_v[i, j, k] / dyu[j]
                        ty[i, j, k] = (t[i, j + 1, k, 0] - t[i, j, k, 0]) * scale
                        sy[i, j, k] = (s[i, j + 1, k, 0] - s[i, j, k, 0]) * scale
                    if k < nz - 1:
                        scale = mask_w[i, j, k] / dzw[k]
                        tz[i, j, k] = (t[i, j, k + 1, 0] - t[i, j, k, 0]) * scale
                        sz[i, j, k] = (s[i, j, k + 1, 0] - s[i, j, k, 0]) * scale

    @njit(parallel=True)
    def sides(rt, rs, ta, sa, tz, sz, mask, k_iso, dzt, dzw, di, dj, result, slopes):
        """Faces between a cell and the one at (di, dj) from it."""
        nx, ny, nz = mask.shape
        for i in prange(2 - di, nx - 2):
            for j in range(2 - dj, ny - 2):
                for k in range(nz):
                    k_sum = k_iso[i, j, k] + k_iso[i + di, j + dj, k]
                    mixing = 0.5 * k_sum
                    if k > 0:
                        mixing = 0.25 * (k_sum + k_iso[i, j, k - 1] + k_iso[i + di, j + dj, k - 1])
                    total = 0.0
                    for cell in range(2):
                        a, b = i + cell * di, j + cell * dj
                        change = rt[a, b, k] * ta[i, j, k] + rs[a, b, k] * sa[i, j, k]
                        for below in range(1 if k == 0 else 0, 2):
                            level = k - 1 + below
                            slope = slope_of(change, rt[a, b, k] * tz[a, b, level] + rs[a, b, k] * sz[a, b, level])
                            counts = taper(slope)
                            total += dzw[level] * mask[i, j, k] * max(50.0, mixing * counts)
                            slopes[i, j, k, cell, below] = counts * slope * mask[i, j, k]
                    result[i, j, k] = total / (4.0 * dzt[k])

    @njit(parallel=True)
    def bottoms(rt, rs, ta, sa, tz, sz, mask, k_iso, width, di, dj, slopes, sums):
        nx, ny, nz = mask.shape
        for i in prange(2, nx - 2):
            for j in range(2, ny - 2):
                for k in range(nz - 1):
                    for face in range(2):
                        a, b = i - (1 - face) * di, j - (1 - face) * dj
                        for below in range(2):
                            t, s = rt[i, j, k + below], rs[i, j, k + below]
                            slope = slope_of(t * ta[a, b, k + below] + s * sa[a, b, k + below],
                                             t * tz[i, j, k] + s * sz[i, j, k])
                            counts = taper(slope)
                            scale = (width[a] if di else width[b]) * k_iso[i, j, k] * mask[i, j, k]
                            sums[i, j, k] += scale * counts * slope * slope
                            slopes[i, j, k, face, below] = counts * slope * mask[i, j, k]

    @njit
    def isoneutral_mixing(mask_t, mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, cost, cosu, dzt, dzw, zt, salt, temp,
                          k_iso, k_11, k_22, k_33):
        rt, rs = np.empty_like(k_11), np.empty_like(k_11)
        tx, sx, ty, sy = np.zeros_like(k_11), np.zeros_like(k_11), np.zeros_like(k_11), np.zeros_like(k_11)
        tz, sz, sum_x, sum_y = np.zeros_like(k_11), np.zeros_like(k_11), np.zeros_like(k_11), np.zeros_like(k_11)
        shape = k_11.shape + (2, 2)
        ez, nz, bx, by = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
        gradients(temp, salt, mask_t, mask_u, mask_v, mask_w, dxu, dyu, dzw, cost, zt, rt, rs, tx, sx, ty, sy, tz, sz)
        sides(rt, rs, tx, sx, tz, sz, mask_u, k_iso, dzt, dzw, 1, 0, k_11, ez)
        sides(rt, rs, ty, sy, tz, sz, mask_v, k_iso, dzt, dzw, 0, 1, k_22, nz)
        bottoms(rt, rs, tx, sx, tz, sz, mask_w, k_iso, dxu, 1, 0, bx, sum_x)
        bottoms(rt, rs, ty, sy, tz, sz, mask_w, k_iso, cosu * dyu, 0, 1, by, sum_y)
        for i in range(2, k_11.shape[0] - 2):
            for j in range(2, k_11.shape[1] - 2):
                k_33[i, j] = sum_x[i, j] / (4 * dxt[i]) + sum_y[i, j] / (4 * dyt[j] * cost[j])
        return k_11, k_22, k_33, ez, nz, bx, by

    return isoneutral_mixing
