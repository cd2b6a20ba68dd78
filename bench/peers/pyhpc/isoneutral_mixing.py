"""Slopes of surfaces of equal density in the ocean, and the mixing along them (Griffies et al., 1998)."""
SIZES = {"64k": dict(size=65536), "1M": dict(size=1048576), "4M": dict(size=4194304), "test": dict(size=64)}
INPLACE = ("k_11", "k_22", "k_33")
TOLERANCE = 1e-8
RHO0 = 1024.0


def data(rng, size):
    import math

    wide, deep = math.ceil(2 * size ** (1 / 3)), math.ceil(0.25 * size ** (1 / 3))
    deep = max(deep, 3)
    shape = (wide, wide, deep)
    values = {f"mask_{c}": (rng.random(shape) < 0.8).astype("f8") for c in "tuvw"}
    values |= {name: rng.standard_normal(wide) for name in ("dxt", "dxu", "dyt", "dyu", "cost", "cosu")}
    values |= {name: rng.standard_normal(deep) for name in ("dzt", "dzw", "zt")}
    values |= {name: rng.standard_normal((*shape, 3)) for name in ("salt", "temp")}
    return values | {name: rng.standard_normal(shape) for name in ("k_iso", "k_11", "k_22", "k_33")}


def work(size):
    return dict(flops=16 * 45 * size, bytes=8 * size * (4 + 2 + 1 + 3 + 3 + 16))


def numpy(np):
    def slope_of(along, down):
        return -along / (np.minimum(0.0, down) - 1e-20)

    def taper(slope):
        return 0.5 * (1.0 + np.tanh((1e-3 - np.abs(slope)) / 1e-3))

    def above(f):
        return np.pad(f[..., :-1], [(0, 0)] * (f.ndim - 1) + [(1, 0)])

    def sides(density, along, down, mask, k_iso, dzt, dzw, slopes, first, second):
        """Faces between the cells `first` and `second`; fills the slopes and returns the mixing."""
        k_sum = k_iso[first] + k_iso[second]
        mixing = 0.25 * (k_sum + above(k_sum))
        mixing[..., 0] = 0.5 * k_sum[..., 0]
        sums = np.zeros_like(mixing)
        for cell, place in enumerate((first, second)):
            change = density[0][place] * along[0][first] + density[1][place] * along[1][first]
            for below in (0, 1):
                t, s = (down[0][place], down[1][place]) if below else (above(down[0][place]), above(down[1][place]))
                slope = slope_of(change, density[0][place] * t + density[1][place] * s)
                counts = taper(slope)
                sums += (dzw if below else above(dzw)) * mask[first] * np.maximum(50.0, mixing * counts)
                slopes[first][..., cell, below] = counts * slope * mask[first]
        return sums / (4.0 * dzt)

    def bottoms(density, along, down, mask, k_iso, slopes, places, widths):
        """Faces between a cell and the one below it, by slopes at two sides."""
        inner = (slice(2, -2), slice(2, -2))
        mask, k = mask[inner][..., :-1], k_iso[inner][..., :-1]
        sums = np.zeros_like(k)
        for below, levels in enumerate((slice(None, -1), slice(1, None))):
            t, s = density[0][inner][..., levels], density[1][inner][..., levels]
            change = t * down[0][inner][..., :-1] + s * down[1][inner][..., :-1]
            for face, place in enumerate(places):
                slope = slope_of(t * along[0][place][..., levels] + s * along[1][place][..., levels], change)
                counts = taper(slope)
                sums += widths[face] * k * counts * slope**2 * mask
                slopes[inner][..., :-1, face, below] = counts * slope * mask
        return sums

    def isoneutral_mixing(mask_t, mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, cost, cosu, dzt, dzw, zt, salt, temp,
                          k_iso, k_11, k_22, k_33):
        tracers = temp[..., 0], salt[..., 0]
        expansion = 1e-5 * (tracers[0] - (283.0 - 273.15)) + 1.67e-4 * (1.0 + 1.1e-8 * 9.81 * RHO0 * np.abs(zt))
        density = -RHO0 * mask_t * expansion, 0.78e-3 * RHO0 * mask_t
        x, y, z = ([np.zeros_like(k_11) for _ in range(2)] for _ in range(3))
        for i, f in enumerate(tracers):
            x[i][:-1] = mask_u[:-1] * (f[1:] - f[:-1]) / (dxu[:-1, None, None] * cost[:, None])
            y[i][:, :-1] = mask_v[:, :-1] * (f[:, 1:] - f[:, :-1]) / dyu[:-1, None]
            z[i][..., :-1] = mask_w[..., :-1] * (f[..., 1:] - f[..., :-1]) / dzw[:-1]
        ez, nz, bx, by = (np.zeros((*k_11.shape, 2, 2)) for _ in range(4))
        inner, near, far = slice(2, -2), slice(1, -2), slice(2, -1)
        k_11[near, inner] = sides(density, x, z, mask_u, k_iso, dzt, dzw, ez, (near, inner), (far, inner))
        k_22[inner, near] = sides(density, y, z, mask_v, k_iso, dzt, dzw, nz, (inner, near), (inner, far))
        faces = slice(1, -3), slice(2, -2)
        sum_x = bottoms(density, x, z, mask_w, k_iso, bx, [(f, inner) for f in faces],
                        [dxu[f, None, None] for f in faces])
        sum_y = bottoms(density, y, z, mask_w, k_iso, by, [(inner, f) for f in faces],
                        [(cosu * dyu)[f, None] for f in faces])
        k_33[inner, inner, :-1] = (sum_x / (4 * dxt[inner, None, None])
                                   + sum_y / (4 * dyt[inner, None] * cost[inner, None]))
        k_33[inner, inner, -1] = 0.0
        return k_11, k_22, k_33, ez, nz, bx, by

    return isoneutral_mixing
