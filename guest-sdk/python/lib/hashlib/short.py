"""Digests of words of 32 bits: RFC 1321 for MD5, FIPS 180-4 for the others."""

import struct

_M = 0xFFFFFFFF


def _blocks(parts, order, size):
    """Yields blocks of a message with its padding and its length in bits, which takes an eighth of a block."""
    message = b"".join(parts)
    bits = len(message) * 8
    message += b"\x80" + bytes(-(len(message) + 1 + size // 8) % size) + bits.to_bytes(size // 8, order)
    for i in range(0, len(message), size):
        yield message[i : i + size]


def _md5_constants():
    import math

    return [int(abs(math.sin(i + 1)) * 4294967296) & _M for i in range(64)]


_SHIFTS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))


def md5(parts):
    constants = _md5_constants()
    a0, b0, c0, d0 = 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476
    for block in _blocks(parts, "little", 64):
        words = struct.unpack("<16I", block)
        a, b, c, d = a0, b0, c0, d0
        for i in range(64):
            if i < 16:
                f, g = (b & c) | (~b & d), i
            elif i < 32:
                f, g = (d & b) | (~d & c), (5 * i + 1) & 15
            elif i < 48:
                f, g = b ^ c ^ d, (3 * i + 5) & 15
            else:
                f, g = c ^ (b | (~d & _M)), (7 * i) & 15
            f = (f + a + constants[i] + words[g]) & _M
            n = _SHIFTS[i >> 4][i & 3]
            a, d, c, b = d, c, b, (b + ((f << n) & _M | f >> (32 - n))) & _M
        a0, b0, c0, d0 = (a0 + a) & _M, (b0 + b) & _M, (c0 + c) & _M, (d0 + d) & _M
    return struct.pack("<4I", a0, b0, c0, d0)


def sha1(parts):
    h = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0]
    for block in _blocks(parts, "big", 64):
        w = list(struct.unpack(">16I", block))
        for i in range(16, 80):
            x = w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]
            w.append((x << 1) & _M | x >> 31)
        a, b, c, d, e = h
        for i in range(80):
            if i < 20:
                f, k = (b & c) | (~b & d), 0x5A827999
            elif i < 40:
                f, k = b ^ c ^ d, 0x6ED9EBA1
            elif i < 60:
                f, k = (b & c) | (b & d) | (c & d), 0x8F1BBCDC
            else:
                f, k = b ^ c ^ d, 0xCA62C1D6
            a, b, c, d, e = (((a << 5) & _M | a >> 27) + f + e + k + w[i]) & _M, a, (b << 30) & _M | b >> 2, c, d
        h = [(x + y) & _M for x, y in zip(h, (a, b, c, d, e))]
    return struct.pack(">5I", *h)


def sha224(parts):
    from .long import constants

    h = [0xC1059ED8, 0x367CD507, 0x3070DD17, 0xF70E5939, 0xFFC00B31, 0x68581511, 0x64F98FA7, 0xBEFA4FA4]
    return sha2(parts, h, [k >> 32 for k in constants(64)], 32, (7, 18, 3, 17, 19, 10), (6, 11, 25, 2, 13, 22))[:28]


def sha2(parts, h, k, width, small, big):
    """The digests of SHA-2, of words of a width, by the numbers that words are rotated by."""
    mask = (1 << width) - 1
    size = width * 2  # bytes of a block

    def rotated(x, n):
        return x >> n | (x << (width - n)) & mask

    for block in _blocks(parts, "big", size):
        w = [int.from_bytes(block[i : i + width // 8], "big") for i in range(0, size, width // 8)]
        for i in range(16, len(k)):
            x, y = w[i - 15], w[i - 2]
            x = rotated(x, small[0]) ^ rotated(x, small[1]) ^ x >> small[2]
            y = rotated(y, small[3]) ^ rotated(y, small[4]) ^ y >> small[5]
            w.append((w[i - 16] + x + w[i - 7] + y) & mask)
        a, b, c, d, e, f, g, z = h
        for i in range(len(k)):
            one = rotated(e, big[0]) ^ rotated(e, big[1]) ^ rotated(e, big[2])
            one += z + ((e & f) ^ (~e & g)) + k[i] + w[i]
            two = (rotated(a, big[3]) ^ rotated(a, big[4]) ^ rotated(a, big[5])) + ((a & b) ^ (a & c) ^ (b & c))
            a, b, c, d, e, f, g, z = (one + two) & mask, a, b, c, (d + one) & mask, e, f, g
        h = [(x + y) & mask for x, y in zip(h, (a, b, c, d, e, f, g, z))]
    return b"".join([x.to_bytes(width // 8, "big") for x in h])
