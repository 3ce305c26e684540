"""Text in HTML."""

_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": "\xa0", "copy": "\xa9", "reg": "\xae",
          "trade": "\u2122", "hellip": "\u2026", "mdash": "\u2014", "ndash": "\u2013", "lsquo": "\u2018", "rsquo": "\u2019",
          "ldquo": "\u201c", "rdquo": "\u201d", "laquo": "\xab", "raquo": "\xbb", "bull": "\u2022", "middot": "\xb7",
          "euro": "\u20ac", "pound": "\xa3", "yen": "\xa5", "cent": "\xa2", "sect": "\xa7", "para": "\xb6", "deg": "\xb0",
          "plusmn": "\xb1", "times": "\xd7", "divide": "\xf7", "frac12": "\xbd", "frac14": "\xbc", "auml": "\xe4",
          "ouml": "\xf6", "uuml": "\xfc", "Auml": "\xc4", "Ouml": "\xd6", "Uuml": "\xdc", "szlig": "\xdf", "eacute": "\xe9",
          "egrave": "\xe8", "agrave": "\xe0", "aacute": "\xe1", "ccedil": "\xe7", "ntilde": "\xf1", "larr": "\u2190",
          "rarr": "\u2192", "uarr": "\u2191", "darr": "\u2193", "shy": "\xad", "ensp": "\u2002", "emsp": "\u2003"}


def escape(s, quote=True):
    s = s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return s.replace('"', "&quot;").replace("'", "&#x27;") if quote else s


def unescape(s):
    """Replaces numbers and the most usual names of characters."""
    parts = s.split("&")
    out = [parts[0]]
    for part in parts[1:]:
        name, semicolon, rest = part.partition(";")
        char = _numbered(name) if name[:1] == "#" else _NAMED.get(name)
        out.append(char + rest if semicolon and char is not None else "&" + part)
    return "".join(out)


def _numbered(name):
    try:
        code = int(name[2:], 16) if name[1:2] in ("x", "X") else int(name[1:])
    except ValueError:
        return None
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
