"""The cyclic redundancy check of bytes with the polynomial 0x8408, bit after bit."""
SIZES = {"bench": dict(n=160000), "test": dict(n=50)}
MISSING = {"torch": "byte after byte"}


def data(rng, n):
    return dict(data=rng.integers(0, 256, n).astype("uint8"))


def work(n):
    return dict(flops=0, bytes=n)


def numpy(np):
    def crc16(data):
        crc = 0xFFFF
        for byte in data:
            crc ^= int(byte)
            for _ in range(8):
                crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
        crc = ~crc & 0xFFFF
        return ((crc << 8) | (crc >> 8)) & 0xFFFF

    return crc16


def numba(np):
    from numba import njit

    return njit(numpy(np))


def jax(jnp):
    from jax import lax

    def add(crc, byte):
        crc = crc ^ byte
        for _ in range(8):
            crc = jnp.where(crc & 1, (crc >> 1) ^ 0x8408, crc >> 1)
        return crc, None

    def crc16(data):
        crc = ~lax.scan(add, jnp.int32(0xFFFF), data.astype(jnp.int32))[0] & 0xFFFF
        return ((crc << 8) | (crc >> 8)) & 0xFFFF

    return crc16
