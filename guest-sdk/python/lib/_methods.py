"""Methods of the builtin types that the interpreter lacks."""

from _wasmres_functions import extend


class _Steps:
    """A generator, as async for goes through it."""

    def __init__(self, generator):
        self._generator = generator

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return next(self._generator)
        except StopIteration:
            pass
        raise StopAsyncIteration


async def _close(generator):
    generator.close()


def _pad(width, fill, text):
    if len(fill) != 1:
        raise TypeError("The fill character must be exactly one character long")
    return fill * (width - len(text))


def _zfill(text, width):
    sign = text[:1] if text[:1] in ("+", "-") and text else ""
    return sign + "0" * (width - len(text)) + text[len(sign) :]


def _title(text):
    out, inside = [], False
    for c in text:
        out.append(c.lower() if inside else c.upper())
        inside = _is_letter(c)
    return "".join(out)


def _is_letter(c):
    return c.isalpha() or ord(c) >= 0xC0


def _expandtabs(text, tabsize=8):
    out, column = [], 0
    for c in text:
        if c == "\t":
            count = tabsize - column % tabsize if tabsize > 0 else 0
            out.append(" " * count)
            column += count
        else:
            out.append(c)
            column = 0 if c in "\r\n" else column + 1
    return "".join(out)


def _translate(text, table):
    out = []
    for c in text:
        try:
            to = table[ord(c)]
        except LookupError:
            to = c
        if to is not None:
            out.append(chr(to) if isinstance(to, int) else to)
    return "".join(out)


def _maketrans(x, y=None, z=None):
    if y is None:
        return {ord(key) if isinstance(key, str) else key: value for key, value in x.items()}
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {ord(a): ord(b) for a, b in zip(x, y)}
    table.update({ord(c): None for c in z or ""})
    return table


def _every(test):
    return lambda text: len(text) > 0 and all([test(c) for c in text])


def _is_identifier(text):
    return len(text) > 0 and not text[0].isdigit() and all([c == "_" or _is_letter(c) or c.isdigit() for c in text])


def _without_prefix(text, prefix):
    return text[len(prefix) :] if text.startswith(prefix) else text


def _without_suffix(text, suffix):
    return text[: len(text) - len(suffix)] if suffix and text.endswith(suffix) else text


_digits = _every(lambda c: c.isdigit())

extend(str, {
    "capitalize": lambda text: text[:1].upper() + text[1:].lower(),
    "casefold": lambda text: text.lower(),
    "expandtabs": _expandtabs,
    "format_map": lambda text, mapping: text.format(**mapping),
    "isalnum": _every(lambda c: _is_letter(c) or c.isdigit()),
    "isascii": lambda text: len(text) == len(text.encode()) and (not text or max(text) < "\x80"),
    "isdecimal": _digits,
    "isidentifier": _is_identifier,
    "isnumeric": _digits,
    "isprintable": lambda text: all([c >= " " and c != "\x7f" for c in text]),
    "istitle": lambda text: _title(text) == text and any([_is_letter(c) for c in text]),
    "ljust": lambda text, width, fill=" ": text + _pad(width, fill, text),
    "maketrans": _maketrans,
    "removeprefix": _without_prefix,
    "removesuffix": _without_suffix,
    "rjust": lambda text, width, fill=" ": _pad(width, fill, text) + text,
    "swapcase": lambda text: "".join([c.lower() if c.isupper() else c.upper() for c in text]),
    "title": _title,
    "translate": _translate,
    "zfill": _zfill,
})

_bytes = {
    "capitalize": lambda data: data[:1].upper() + data[1:].lower(),
    "isalnum": _every(lambda b: chr(b).isalpha() or chr(b).isdigit()),
    "isascii": lambda data: not data or max(data) < 128,
    "ljust": lambda data, width, fill=b" ": data + _pad(width, fill, data),
    "removeprefix": _without_prefix,
    "removesuffix": _without_suffix,
    "rjust": lambda data, width, fill=b" ": _pad(width, fill, data) + data,
    "splitlines": lambda data, keepends=False: [
        line.encode("utf-8") for line in str(data, "utf-8").splitlines(keepends)
    ],
    "zfill": lambda data, width: _zfill(str(data, "utf-8"), width).encode(),
}
extend(bytes, _bytes)
extend(bytearray, _bytes)
extend(memoryview, {"tobytes": lambda view: bytes(view), "tolist": lambda view: list(view), "release": lambda view: None})


def _bit_length(n):
    n, bits = abs(n), 0
    while n >= 1 << 24:
        n >>= 24
        bits += 24
    while n:
        n >>= 1
        bits += 1
    return bits


_int = {
    "as_integer_ratio": lambda n: (int(n), 1),
    "bit_count": lambda n: bin(abs(n)).count("1"),
    "bit_length": _bit_length,
    "conjugate": lambda n: int(n),
    "is_integer": lambda n: True,
}
extend(int, _int)
extend(bool, _int)


def _ratio(x):
    if x != x or x - x != 0:
        raise (ValueError if x != x else OverflowError)("cannot convert it to integer ratio")
    bottom = 1
    while x != int(x):
        x *= 2
        bottom *= 2
    return int(x), bottom


extend(float, {
    "as_integer_ratio": _ratio,
    "conjugate": lambda x: x,
    "is_integer": lambda x: x - x == 0 and x == int(x),
})

extend(type((lambda: (yield))()), {
    "__aiter__": lambda generator: _Steps(generator),
    "__anext__": lambda generator: _Steps(generator).__anext__(),
    "aclose": _close,
})

_errors = {
    "__cause__": None, "__context__": None, "__suppress_context__": False, "__traceback__": None,
    "add_note": lambda error, note: None,
    "with_traceback": lambda error, traceback: error,
}
for _kind in (Exception, ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, IndexError, KeyError, LookupError,
              MemoryError, NameError, NotImplementedError, OSError, OverflowError, RuntimeError, StopIteration, SyntaxError,
              TypeError, UnicodeError, ValueError, ZeroDivisionError):
    extend(_kind, _errors)
