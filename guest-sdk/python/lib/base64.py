"""Bytes as text."""

import binascii

_B32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def _bytes(s):
    if isinstance(s, str):
        try:
            data = s.encode()
        except ValueError:
            data = None
        if data is None or len(data) != len(s):
            raise ValueError("string argument should contain only ASCII characters")
        return data
    if isinstance(s, (bytes, bytearray, memoryview)):
        return bytes(s)
    raise TypeError("argument should be a bytes-like object or ASCII string, not " + repr(type(s).__name__))


def _input(s):
    if isinstance(s, (bytes, bytearray, memoryview)):
        return s
    raise TypeError("a bytes-like object is required, not " + repr(type(s).__name__))


def b64encode(s, altchars=None):
    encoded = binascii.b2a_base64(_input(s))[:-1]
    if altchars is not None:
        encoded = encoded.replace(b"+", altchars[:1]).replace(b"/", altchars[1:])
    return encoded


_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def b64decode(s, altchars=None, validate=False):
    s = _bytes(s)
    if altchars is not None:
        altchars = _bytes(altchars)
        s = s.replace(altchars[:1], b"+").replace(altchars[1:], b"/")
    core = s.rstrip(b"=")
    if [b for b in core if b not in _ALPHABET]:
        if validate:
            raise Error("Only base64 data is allowed")
        return _lenient(s)
    pad = len(s) - len(core)
    if len(core) % 4 == 1:
        raise Error("Invalid base64-encoded string: number of data characters (" + str(len(core))
                    + ") cannot be 1 more than a multiple of 4")
    if (len(core) + pad) % 4 and (len(core) % 4 + pad < 4 and len(core) % 4):
        raise Error("Incorrect padding")
    return binascii.a2b_base64(core + b"=" * (-len(core) % 4))


def _lenient(s):
    """Leaves out what is not of the alphabet."""
    core = bytes([b for b in s if b in _ALPHABET or b == 61])
    end = core.find(b"=")
    pad = core.count(b"=")
    data = core.replace(b"=", b"") if end < 0 else core[:end]
    return b64decode(data + b"=" * pad)


class Error(ValueError):
    pass


def standard_b64encode(s):
    return b64encode(s)


def standard_b64decode(s):
    return b64decode(s)


def urlsafe_b64encode(s):
    return b64encode(s).replace(b"+", b"-").replace(b"/", b"_")


def urlsafe_b64decode(s):
    return b64decode(_bytes(s).replace(b"-", b"+").replace(b"_", b"/"))


def encodebytes(s):
    s = _input(s)
    return b"".join([binascii.b2a_base64(s[i : i + 57]) for i in range(0, len(s), 57)])


def decodebytes(s):
    return b64decode(_input(s))


def b16encode(s):
    return binascii.hexlify(_input(s)).upper()


def b16decode(s, casefold=False):
    s = _bytes(s)
    if [b for b in s if b not in (b"0123456789ABCDEFabcdef" if casefold else b"0123456789ABCDEF")] or len(s) % 2:
        raise Error("Non-base16 digit found" if len(s) % 2 == 0 else "Odd-length string")
    return binascii.unhexlify(s)


def b32encode(s):
    s = bytes(_input(s))
    text = ""
    for i in range(0, len(s), 5):
        part = s[i : i + 5]
        bits = int.from_bytes(part + bytes(5 - len(part)), "big")
        chars = "".join([_B32[bits >> shift & 31] for shift in range(35, -1, -5)])
        used = (len(part) * 8 + 4) // 5
        text += chars[:used] + "=" * (8 - used)
    return text.encode()


def b32decode(s, casefold=False, map01=None):
    text = str(_bytes(s), "utf-8")
    text = text.upper() if casefold else text
    core = text.rstrip("=")
    if len(text) % 8 or len(core) % 8 in (1, 3, 6):
        raise Error("Incorrect padding")
    data, bits, count = bytearray(), 0, 0
    for c in core:
        value = _B32.find(c)
        if value < 0:
            raise Error("Non-base32 digit found")
        bits, count = bits << 5 | value, count + 5
        if count >= 8:
            count -= 8
            data.append(bits >> count & 255)
            bits &= (1 << count) - 1
    return bytes(data)
