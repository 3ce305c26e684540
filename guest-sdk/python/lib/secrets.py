"""Tokens."""

from _entropy import random_bytes
from base64 import urlsafe_b64encode
from binascii import hexlify
from hmac import compare_digest

DEFAULT_ENTROPY = 32


def token_bytes(nbytes=None):
    return random_bytes(DEFAULT_ENTROPY if nbytes is None else nbytes)


def token_hex(nbytes=None):
    return hexlify(token_bytes(nbytes)).decode()


def token_urlsafe(nbytes=None):
    return urlsafe_b64encode(token_bytes(nbytes)).rstrip(b"=").decode()


def randbits(k):
    return int.from_bytes(random_bytes((k + 7) // 8), "big") >> (-k % 8)


def randbelow(exclusive_upper_bound):
    if exclusive_upper_bound <= 0:
        raise ValueError("Upper bound must be positive.")
    size = 8
    while 1 << (8 * size - 64) < exclusive_upper_bound:
        size += 8
    return int.from_bytes(random_bytes(size), "big") % exclusive_upper_bound


def choice(sequence):
    return sequence[randbelow(len(sequence))]


class SystemRandom:
    def random(self):
        return randbits(53) / (1 << 53)

    def randint(self, a, b):
        return a + randbelow(b - a + 1)

    def choice(self, sequence):
        return choice(sequence)

    def getrandbits(self, k):
        return randbits(k)
