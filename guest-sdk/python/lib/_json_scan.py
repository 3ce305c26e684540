"""Reads JSON with what the interpreter's module lacks: hooks, and where a text is wrong."""

from json import JSONDecodeError

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = (("null", None), ("true", True), ("false", False), ("NaN", float("nan")), ("Infinity", float("inf")),
          ("-Infinity", float("-inf")))


def scan(text, object_hook=None, parse_float=None, parse_int=None, object_pairs_hook=None):
    chars = list(text) + [""] * 16  # a place in a list is found at once, one in a text is counted
    scanner = _Scanner(text, chars, object_hook, parse_float or float, parse_int or int, object_pairs_hook)
    value, at = scanner.value(_space(chars, 0))
    at = _space(chars, at)
    if at < len(text):
        raise JSONDecodeError("Extra data", text, at)
    return value


def _space(text, at):
    while text[at] in (" ", "\t", "\n", "\r"):
        at += 1
    return at


class _Scanner:
    def __init__(self, doc, chars, object_hook, parse_float, parse_int, pairs_hook):
        self.doc, self.text = doc, chars
        self.object_hook = object_hook
        self.parse_float = parse_float
        self.parse_int = parse_int
        self.pairs_hook = pairs_hook

    def value(self, at):
        """The value that begins at a place, and where it ends."""
        c = self.text[at]
        if c == '"':
            return self.string(at + 1)
        if c == "{":
            return self.object(at + 1)
        if c == "[":
            return self.array(at + 1)
        for word, value in _WORDS:
            if "".join(self.text[at : at + len(word)]) == word:
                return value, at + len(word)
        if c and c in "-0123456789":
            return self.number(at)
        raise JSONDecodeError("Expecting value", self.doc, at)

    def number(self, start):
        text, at = self.text, start
        at += text[at] == "-"
        if text[at] == "0":
            at += 1
        else:
            at = self.digits(at)
        if at == start + (text[start] == "-"):
            raise JSONDecodeError("Expecting value", self.doc, start)
        end = at
        if text[end] == ".":
            end = self.digits(end + 1)
            end = end if end > at + 1 else at
        if text[end] in ("e", "E"):
            sign = end + 1 + (text[end + 1] in ("+", "-"))
            after = self.digits(sign)
            end = after if after > sign else end
        part = "".join(text[start:end])
        return (self.parse_int(part) if end == at else self.parse_float(part)), end

    def digits(self, at):
        while self.text[at] and self.text[at] in "0123456789":
            at += 1
        return at

    def string(self, at):
        text, start, parts = self.text, at, []
        while True:
            c = text[at]
            if not c:
                raise JSONDecodeError("Unterminated string starting at", self.doc, start - 1)
            if c == '"':
                parts.append("" if parts else "".join(text[start:at]))
                return "".join(parts), at + 1
            if c == "\\":
                if not parts:
                    parts.append("".join(text[start:at]))
                c, at = self.escape(at, start)
                parts.append(c)
                continue
            if c < " ":
                raise JSONDecodeError("Invalid control character at", self.doc, at)
            if parts:
                parts.append(c)
            at += 1

    def escape(self, at, start):
        c = self.text[at + 1]
        if c == "u":
            code = self.hex(at)
            if 0xD800 <= code < 0xDC00 and self.text[at + 6] + self.text[at + 7] == "\\u":
                low = self.hex(at + 6)
                if 0xDC00 <= low < 0xE000:
                    return chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00), at + 12
            return chr(code), at + 6
        if not c:
            raise JSONDecodeError("Unterminated string starting at", self.doc, start - 1)
        if c not in _ESCAPES:
            raise JSONDecodeError("Invalid \\escape", self.doc, at)
        return _ESCAPES[c], at + 2

    def hex(self, at):
        digits = "".join(self.text[at + 2 : at + 6])
        if len(digits) < 4 or [c for c in digits if c not in "0123456789abcdefABCDEF"]:
            raise JSONDecodeError("Invalid \\uXXXX escape", self.doc, at + 1)
        return int(digits, 16)

    def array(self, at):
        values, text = [], self.text
        at = _space(text, at)
        if text[at] == "]":
            return values, at + 1
        while True:
            value, at = self.value(at)
            values.append(value)
            at = _space(text, at)
            c = text[at]
            if c == "]":
                return values, at + 1
            if c != ",":
                raise JSONDecodeError("Expecting ',' delimiter", self.doc, at)
            at = _space(text, at + 1)

    def object(self, at):
        pairs, text = [], self.text
        at = _space(text, at)
        if text[at] == "}":
            return self.made(pairs), at + 1
        while True:
            if text[at] != '"':
                raise JSONDecodeError("Expecting property name enclosed in double quotes", self.doc, at)
            key, at = self.string(at + 1)
            at = _space(text, at)
            if text[at] != ":":
                raise JSONDecodeError("Expecting ':' delimiter", self.doc, at)
            value, at = self.value(_space(text, at + 1))
            pairs.append((key, value))
            at = _space(text, at)
            c = text[at]
            if c == "}":
                return self.made(pairs), at + 1
            if c != ",":
                raise JSONDecodeError("Expecting ',' delimiter", self.doc, at)
            at = _space(text, at + 1)

    def made(self, pairs):
        if self.pairs_hook:
            return self.pairs_hook(pairs)
        made = dict(pairs)
        return self.object_hook(made) if self.object_hook else made
