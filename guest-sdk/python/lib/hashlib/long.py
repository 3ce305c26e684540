"""Digests of words of 64 bits: FIPS 180-4 for SHA-2, FIPS 202 for SHA-3."""

from .short import sha2

_M = (1 << 64) - 1


def _primes(n):
    found, candidate = [], 2
    while len(found) < n:
        if all([candidate % p for p in found]):
            found.append(candidate)
        candidate += 1
    return found


def constants(n):
    """The first 64 bits of the fractions of the cube roots of the first primes."""
    found = []
    for prime in _primes(n):
        low, high = 0, 1 << 67
        target = prime << 192
        while low < high:
            middle = (low + high + 1) >> 1
            if middle * middle * middle <= target:
                low = middle
            else:
                high = middle - 1
        found.append(low & _M)
    return found


def _sha2(parts, h):
    return sha2(parts, h, constants(80), 64, (1, 8, 7, 19, 61, 6), (14, 18, 41, 28, 34, 39))


def sha512(parts):
    return _sha2(parts, [0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
                         0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179])


def sha384(parts):
    return _sha2(parts, [0xCBBB9D5DC1059ED8, 0x629A292A367CD507, 0x9159015A3070DD17, 0x152FECD8F70E5939,
                         0x67332667FFC00B31, 0x8EB44A8768581511, 0xDB0C2E0D64F98FA7, 0x47B5481DBEFA4FA4])[:48]


def _rotated(x, n):
    return (x << n) & _M | x >> (64 - n) if n else x


def _permuted(lanes):
    """Keccak-f[1600] of 25 words, that of column x and row y at x + 5 * y."""
    register = 1
    for _ in range(24):
        c = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        d = [c[(x + 4) % 5] ^ _rotated(c[(x + 1) % 5], 1) for x in range(5)]
        lanes = [lanes[i] ^ d[i % 5] for i in range(25)]
        x, y, current = 1, 0, lanes[1]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x + 5 * y] = lanes[x + 5 * y], _rotated(current, (t + 1) * (t + 2) // 2 % 64)
        for row in range(0, 25, 5):
            t = lanes[row : row + 5]
            for x in range(5):
                lanes[row + x] = t[x] ^ (~t[(x + 1) % 5] & _M & t[(x + 2) % 5])
        for j in range(7):
            register = ((register << 1) ^ (register >> 7) * 0x71) & 0xFF
            if register & 2:
                lanes[0] ^= 1 << ((1 << j) - 1)
    return lanes


def sha3(bits, parts):
    rate = 200 - bits // 4
    message = bytearray(b"".join(parts))
    message.append(0x06)
    message += bytes(-len(message) % rate)
    message[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(message), rate):
        for i in range(rate // 8):
            at = start + 8 * i
            lanes[i] ^= int.from_bytes(message[at : at + 8], "little")
        lanes = _permuted(lanes)
    return b"".join([lane.to_bytes(8, "little") for lane in lanes])[: bits // 8]
