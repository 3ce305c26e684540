"""Bytes that cannot be foreseen, from the seed that the host gives to each request."""

import _wasmres_engine as engine
from _wasmres_service import info
from uhashlib import sha256
from urandom import getrandbits
from wasmres import abi

_count = 0


def random_bytes(size):
    global _count
    out = b""
    while len(out) < size:
        _count += 1
        parts = (engine.seed(), getrandbits(30), getrandbits(30), info(abi.INFO_WALL_TIME), info(abi.INFO_MONOTONIC), _count)
        out += sha256(repr(parts).encode()).digest()
    return out[:size]
