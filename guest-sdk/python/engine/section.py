"""Writes a custom section, whose name and file are the arguments: wabt keeps none."""

import sys


def number(n):
    """n in LEB128."""
    encoded = bytearray()
    while True:
        n, low = n >> 7, n & 127
        encoded.append(low | (128 if n else 0))
        if not n:
            return bytes(encoded)


name = sys.argv[1].encode()
with open(sys.argv[2], "rb") as file:
    payload = number(len(name)) + name + file.read()
sys.stdout.buffer.write(b"\0" + number(len(payload)) + payload)
