"""Digests with a key."""

import hashlib
from binascii import hexlify


class HMAC:
    def __init__(self, key, msg=None, digestmod=""):
        if not digestmod:
            raise TypeError("Missing required argument 'digestmod'.")
        made = hashlib.new(digestmod) if isinstance(digestmod, str) else digestmod()
        self._new = made.copy
        self.digest_size, self.block_size, self.name = made.digest_size, made.block_size, "hmac-" + made.name
        if len(key) > made.block_size:
            hashed = made.copy()
            hashed.update(key)
            key = hashed.digest()
        key = key + bytes(made.block_size - len(key))
        self._outer = bytes([b ^ 0x5C for b in key])
        self._inner = made.copy()
        self._inner.update(bytes([b ^ 0x36 for b in key]))
        if msg is not None:
            self.update(msg)

    def update(self, msg):
        self._inner.update(msg)

    def copy(self):
        other = object.__new__(HMAC)
        for name, value in self.__dict__.items():
            setattr(other, name, value)
        other._inner = self._inner.copy()
        return other

    def digest(self):
        outer = self._new()
        outer.update(self._outer)
        outer.update(self._inner.digest())
        return outer.digest()

    def hexdigest(self):
        return hexlify(self.digest()).decode()


def new(key, msg=None, digestmod=""):
    return HMAC(key, msg, digestmod)


def digest(key, msg, digest):
    return HMAC(key, msg, digest).digest()


def compare_digest(a, b):
    """Whether both are the same, in a time that does not tell where they differ."""
    if isinstance(a, str) and isinstance(b, str):
        a, b = a.encode(), b.encode()
    different = len(a) ^ len(b)
    for x, y in zip(a, b):
        different |= x ^ y
    return different == 0
