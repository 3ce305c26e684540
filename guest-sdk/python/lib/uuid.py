"""Universally unique identifiers: RFC 9562."""

from binascii import hexlify

RESERVED_NCS, RFC_4122, RESERVED_MICROSOFT, RESERVED_FUTURE = (
    "reserved for NCS compatibility", "specified in RFC 4122", "reserved for Microsoft compatibility",
    "reserved for future definition")


class UUID:
    def __init__(self, hex=None, bytes=None, bytes_le=None, fields=None, int=None, version=None):
        if len([x for x in (hex, bytes, bytes_le, fields, int) if x is not None]) != 1:
            raise TypeError("one of the hex, bytes, bytes_le, fields, or int arguments must be given")
        if hex is not None:
            digits = hex.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "")
            if len(digits) != 32:
                raise ValueError("badly formed hexadecimal UUID string")
            int = _int(digits, 16)
        elif bytes_le is not None:
            bytes = bytes_le[3::-1] + bytes_le[5:3:-1] + bytes_le[7:5:-1] + bytes_le[8:]
        elif fields is not None:
            int = 0
            for value, width in zip(fields, (32, 16, 16, 8, 8, 48)):
                int = int << width | value
        if bytes is not None:
            if len(bytes) != 16:
                raise ValueError("bytes is not a 16-char string")
            int = _int.from_bytes(bytes, "big")
        if not 0 <= int < 1 << 128:
            raise ValueError("int is out of range (need a 128-bit value)")
        if version is not None:
            int = int & ~(0xF000 << 64) & ~(0xC000 << 48) | version << 76 | 0x8000 << 48
        self.int = int

    @property
    def bytes(self):
        return self.int.to_bytes(16, "big")

    @property
    def hex(self):
        return hexlify(self.bytes).decode()

    @property
    def urn(self):
        return "urn:uuid:" + str(self)

    @property
    def variant(self):
        bits = self.int >> 61 & 7
        return RESERVED_NCS if bits < 4 else RFC_4122 if bits < 6 else RESERVED_MICROSOFT if bits == 6 else RESERVED_FUTURE

    @property
    def version(self):
        return self.int >> 76 & 15 if self.variant == RFC_4122 else None

    @property
    def fields(self):
        n = self.int
        return n >> 96, n >> 80 & 0xFFFF, n >> 64 & 0xFFFF, n >> 56 & 0xFF, n >> 48 & 0xFF, n & 0xFFFFFFFFFFFF

    time_low = property(lambda self: self.int >> 96)
    node = property(lambda self: self.int & 0xFFFFFFFFFFFF)

    def __str__(self):
        h = self.hex
        return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]

    def __repr__(self):
        return "UUID(" + repr(str(self)) + ")"

    def __int__(self):
        return self.int

    def __hash__(self):
        return hash(self.int)

    def __eq__(self, other):
        return isinstance(other, UUID) and self.int == other.int

    def __lt__(self, other):
        return self.int < other.int

    def __le__(self, other):
        return self.int <= other.int

    def __gt__(self, other):
        return self.int > other.int

    def __ge__(self, other):
        return self.int >= other.int


_int = int


def uuid4():
    from _entropy import random_bytes

    return UUID(bytes=random_bytes(16), version=4)


def uuid1(node=None, clock_seq=None):
    """Of the time; the node is random where none is given."""
    from _entropy import random_bytes
    from time import time_ns

    stamp = time_ns() // 100 + 0x01B21DD213814000
    chance = random_bytes(8)
    clock = _int.from_bytes(chance[:2], "big") if clock_seq is None else clock_seq
    node = _int.from_bytes(chance[2:], "big") | 1 << 40 if node is None else node
    fields = stamp & 0xFFFFFFFF, stamp >> 32 & 0xFFFF, stamp >> 48 & 0x0FFF, clock >> 8 & 0x3F, clock & 0xFF, node
    return UUID(fields=fields, version=1)


def uuid3(namespace, name):
    from hashlib import md5

    return UUID(bytes=md5(namespace.bytes + _bytes(name)).digest(), version=3)


def uuid5(namespace, name):
    from hashlib import sha1

    return UUID(bytes=sha1(namespace.bytes + _bytes(name)).digest()[:16], version=5)


def _bytes(name):
    return name.encode() if isinstance(name, str) else name


NAMESPACE_DNS = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_URL = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_OID = UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_X500 = UUID("6ba7b814-9dad-11d1-80b4-00c04fd430c8")
