"""The encodings of text that files and messages have."""

_UTF8 = ("utf-8", "utf8", "u8")
_LATIN = ("latin-1", "latin1", "iso-8859-1", "iso8859-1", "l1")
_ASCII = ("ascii", "us-ascii")


def decode(data, encoding="utf-8", errors="strict"):
    """The text of bytes."""
    name = _normal(encoding)
    if name == "utf-8-sig":
        name, data = "utf-8", data[3:] if data[:3] == b"\xef\xbb\xbf" else data
    if name in _UTF8:
        return str(data, "utf-8", errors)
    if name in _LATIN:
        return "".join([chr(b) for b in data])
    if name in _ASCII:
        return _decode_ascii(data, errors)
    raise LookupError("unknown encoding: " + encoding)


def encode(text, encoding="utf-8", errors="strict"):
    """The bytes of a text."""
    name = _normal(encoding)
    if name == "utf-8-sig":
        return b"\xef\xbb\xbf" + text.encode()
    if name in _UTF8:
        return text.encode()
    if name in _LATIN or name in _ASCII:
        return _encode_narrow(text, 256 if name in _LATIN else 128, name, errors)
    raise LookupError("unknown encoding: " + encoding)


def _normal(encoding):
    return encoding.lower().replace("_", "-")


def _decode_ascii(data, errors):
    if not data or max(data) < 128:
        return str(data, "utf-8")
    if errors == "strict":
        raise UnicodeError("'ascii' codec can't decode bytes: ordinal not in range(128)")
    other = "\ufffd" if errors == "replace" else ""
    return "".join([chr(b) if b < 128 else other for b in data])


def _encode_narrow(text, limit, name, errors):
    data = bytearray()
    for c in text:
        code = ord(c)
        if code < limit:
            data.append(code)
        elif errors == "strict":
            raise UnicodeError("'" + name + "' codec can't encode character: ordinal not in range(" + str(limit) + ")")
        elif errors == "replace":
            data.append(63)
    return bytes(data)
