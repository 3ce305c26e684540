"""JSON. The interpreter's own module does the work where it writes what CPython's does."""

import ujson


class JSONDecodeError(ValueError):
    """Where a text is no JSON: msg, doc, pos, lineno and colno."""

    def __init__(self, msg, doc, pos):
        self.msg, self.doc, self.pos = msg, doc, pos
        before = doc[:pos]
        self.lineno = before.count("\n") + 1
        self.colno = pos - before.rfind("\n")
        super().__init__("%s: line %d column %d (char %d)" % (msg, self.lineno, self.colno, pos))


class JSONEncoder:
    item_separator, key_separator = ", ", ": "

    def __init__(self, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, sort_keys=False,
                 indent=None, separators=None, default=None):
        self.skipkeys = skipkeys
        self.ensure_ascii = ensure_ascii
        self.allow_nan = allow_nan
        self.sort_keys = sort_keys
        self.indent = " " * indent if isinstance(indent, int) else indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ","
        if default is not None:
            self.default = default

    def default(self, value):
        raise TypeError("Object of type " + type(value).__name__ + " is not JSON serializable")

    def encode(self, value):
        parts = []
        self._put(value, parts.append, "\n" if self.indent is not None else None, [])
        return "".join(parts)

    def iterencode(self, value):
        yield self.encode(value)

    def _put(self, value, put, line, above):
        if isinstance(value, str):
            put(_string(value, self.ensure_ascii))
        elif value is None:
            put("null")
        elif value is True:
            put("true")
        elif value is False:
            put("false")
        elif isinstance(value, int):
            put(_int_text(value))
        elif isinstance(value, float):
            put(self._float(value))
        else:
            for other in above:
                if other is value:
                    raise ValueError("Circular reference detected")
            above.append(value)
            if isinstance(value, dict):
                self._put_dict(value, put, line, above)
            elif isinstance(value, (list, tuple)):
                self._put_list(value, put, line, above)
            else:
                self._put(self.default(value), put, line, above)
            above.pop()

    def _float(self, value):
        if value != value or value - value != 0:
            if not self.allow_nan:
                raise ValueError("Out of range float values are not JSON compliant")
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        return float.__repr__(value) if type(value) is not float and hasattr(float, "__repr__") else repr(value)

    def _put_list(self, values, put, line, above):
        if not values:
            return put("[]")
        inner = line + self.indent if line else None
        separator = self.item_separator + (inner or "")
        before = "[" + (inner or "")
        for value in values:
            put(before)
            before = separator
            self._put(value, put, inner, above)
        put((line or "") + "]")

    def _put_dict(self, values, put, line, above):
        inner = line + self.indent if line else None
        separator = self.item_separator + (inner or "")
        before = "{" + (inner or "")
        empty = True
        for key, value in sorted(values.items(), key=_first) if self.sort_keys else values.items():
            if not isinstance(key, str):
                key = self._key(key)
                if key is None:
                    continue
            put(before)
            before, empty = separator, False
            put(_string(key, self.ensure_ascii))
            put(self.key_separator)
            self._put(value, put, inner, above)
        put("{}" if empty else (line or "") + "}")

    def _key(self, key):
        if key is None or key is True or key is False:
            return "null" if key is None else "true" if key else "false"
        if isinstance(key, int):
            return _int_text(key)
        if isinstance(key, float):
            return self._float(key)
        if self.skipkeys:
            return None
        raise TypeError("keys must be str, int, float, bool or None, not " + type(key).__name__)


def _first(pair):
    return pair[0]


def _int_text(value):
    return str(value if type(value) is int else value + 0)


def _string(text, ensure_ascii):
    if type(text) is not str:
        text = text[:]  # not what __str__ of its class gives
    quoted = ujson.dumps(text)
    if "\\u00" in quoted:
        quoted = quoted.replace("\\u0008", "\\b").replace("\\u000c", "\\f")
    if not ensure_ascii or (len(quoted) == len(quoted.encode()) and "\x7f" not in quoted):
        return quoted
    return "".join([c if ord(c) < 127 else _escaped(ord(c)) for c in quoted])


def _escaped(code):
    if code < 0x10000:
        return "\\u%04x" % code
    code -= 0x10000
    return "\\u%04x\\u%04x" % (0xD800 | code >> 10, 0xDC00 | code & 0x3FF)


_default = JSONEncoder()


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None,
          separators=None, default=None, sort_keys=False, **kw):
    if not (kw or skipkeys or cls or default or sort_keys or separators or not ensure_ascii or not allow_nan) and indent is None:
        text = _plain(obj)
        return _default.encode(obj) if text is None else text
    return (cls or JSONEncoder)(
        skipkeys=skipkeys, ensure_ascii=ensure_ascii, allow_nan=allow_nan, indent=indent, separators=separators,
        default=default, sort_keys=sort_keys, **kw
    ).encode(obj)


def _plain(obj):
    """What the interpreter writes; None where CPython may write something else, or raises another error."""
    try:
        text = ujson.dumps(obj)
    except (TypeError, RuntimeError):
        return None
    if "\\u00" in text or "\x7f" in text or '"[' in text:  # escapes that differ, and keys that are tuples
        return None
    if len(text) == len(text.encode()):
        return text
    return "".join([c if c < "\x80" else _escaped(ord(c)) for c in text])


def dump(obj, fp, **options):
    fp.write(dumps(obj, **options))


class JSONDecoder:
    def __init__(self, *, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, strict=True,
                 object_pairs_hook=None):
        self._options = (object_hook, parse_float, parse_int, object_pairs_hook)

    def decode(self, text):
        if [o for o in self._options if o]:
            from _json_scan import scan

            return scan(text, *self._options)
        return _decoded(text)


def loads(s, *, cls=None, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, object_pairs_hook=None, **kw):
    if not isinstance(s, (str, bytes, bytearray)):
        raise TypeError("the JSON object must be str, bytes or bytearray, not " + type(s).__name__)
    if not isinstance(s, str):
        s = str(s, "utf-8")
    if cls or object_hook or parse_float or parse_int or object_pairs_hook:
        return (cls or JSONDecoder)(object_hook=object_hook, parse_float=parse_float, parse_int=parse_int,
                                    object_pairs_hook=object_pairs_hook, **kw).decode(s)
    return _decoded(s)


def load(fp, **options):
    return loads(fp.read(), **options)


def _decoded(text):
    if text.startswith("\ufeff"):
        raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    try:
        return ujson.loads(text)
    except ValueError:
        pass
    from _json_scan import scan  # which tells what is wrong, and where

    return scan(text)
