"""Bytes as text, and back."""

from ubinascii import *
from ubinascii import b2a_base64 as _encode, hexlify as _hexlify, unhexlify as _unhexlify


class Error(ValueError):
    pass


class Incomplete(Exception):
    pass


def b2a_base64(data, *, newline=True):
    return _encode(data) if newline else _encode(data)[:-1]


def hexlify(data, sep=None, bytes_per_sep=1):
    return _hexlify(data) if sep is None else _hexlify(data, sep)


def unhexlify(text):
    try:
        return _unhexlify(text)
    except ValueError:
        pass
    raise Error("Odd-length string" if len(text) % 2 else "Non-hexadecimal digit found")


b2a_hex, a2b_hex = hexlify, unhexlify


def crc32(data, value=0):
    crc = value ^ 0xFFFFFFFF
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ 0xEDB88320 if crc & 1 else crc >> 1
    return crc ^ 0xFFFFFFFF
