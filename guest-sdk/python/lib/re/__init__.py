"""Regular expressions. The interpreter's engine matches what it matches as CPython does, as it is the quicker one; the rest
is matched in Python. A pattern that takes very long is ended by the limits of the call."""

import ure

from .parser import A, ASCII, DOTALL, I, IGNORECASE, M, MULTILINE, S, U, UNICODE, VERBOSE, X, error, parse

NOFLAG = 0
PatternError = error
_MAX_CACHE = 64
_cache = {}


class Match:
    """Where a pattern matches. Spans has pairs of positions, (-1, -1) for a group that took no part."""

    def __init__(self, pattern, string, spans, pos, endpos):
        self.re, self.string, self.pos, self.endpos = pattern, string, pos, endpos
        self._spans = spans

    def _index(self, group):
        if isinstance(group, str):
            group = self.re.groupindex.get(group, -1)
        if not isinstance(group, int) or not 0 <= group < len(self._spans):
            raise IndexError("no such group")
        return group

    def _text(self, i, default=None):
        start, end = self._spans[i]
        return default if start < 0 else self.string[start:end]

    def group(self, *groups):
        if len(groups) < 2:
            return self._text(self._index(groups[0]) if groups else 0)
        return tuple([self._text(self._index(g)) for g in groups])

    def __getitem__(self, group):
        return self._text(self._index(group))

    def groups(self, default=None):
        return tuple([self._text(i, default) for i in range(1, len(self._spans))])

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    def start(self, group=0):
        return self._spans[self._index(group)][0]

    def end(self, group=0):
        return self._spans[self._index(group)][1]

    def span(self, group=0):
        return self._spans[self._index(group)]

    @property
    def regs(self):
        return tuple(self._spans)

    @property
    def lastindex(self):
        last = None
        for i in range(1, len(self._spans)):
            if self._spans[i][0] >= 0 and (last is None or self._spans[i][1] > self._spans[last][1]):
                last = i
        return last

    @property
    def lastgroup(self):
        for name, i in self.re.groupindex.items():
            if i == self.lastindex:
                return name
        return None

    def expand(self, template):
        return _filled(_template(self.re, template), self)

    def __repr__(self):
        return "<re.Match object; span=" + repr(self._spans[0]) + ", match=" + repr(self._text(0)) + ">"


class Pattern:
    def __init__(self, pattern, flags):
        self.pattern = pattern
        self._is_text = isinstance(pattern, str)
        self._native = self._parsed = self._program = None
        self._checked = None  # a text, and whether it suits the interpreter's engine
        self._suits = False
        self._given = flags
        if self._is_text and not flags & ~(ASCII | UNICODE) and _is_shared(pattern):
            try:
                self._native = ure.compile(pattern)
            except (ValueError, RuntimeError):
                pass
        if self._native is None:
            self._parse()
        else:
            self._groups = pattern.count("(") - pattern.count("\\(") - pattern.count("(?:")

    def _parse(self):
        if self._parsed is None:
            self._parsed = parse(self.pattern, self._given)
            self._groups = self._parsed.groups
        return self._parsed

    @property
    def groups(self):
        return self._parse().groups

    @property
    def groupindex(self):
        return self._parse().names

    @property
    def flags(self):
        return self._parse().flags

    def _find(self, string, pos, endpos, anchored=False, whole=False, advance=False):
        """The spans of the first match from pos on, or None. With advance it has not the empty match at pos."""
        if self._native and not whole and not advance and self._as_native(string, endpos):
            try:
                find = self._native.match if anchored else self._native.search
                found = find(string, pos, endpos)
                return found and [found.span(i) for i in range(self._groups + 1)]
            except RuntimeError:
                pass  # it recurses for each repetition
        from .machine import compile, search

        if self._program is None:
            self._program = compile(self._parse())
        return search(self._program, string, pos, endpos, anchored, whole, advance)

    def _as_native(self, string, endpos):
        """Whether the interpreter's engine matches this text as CPython does: it counts bytes, its dot takes newlines, and
        its dollar not the one at the end."""
        if self._checked is not string:
            self._checked = string
            plain = isinstance(string, str) and len(string) == len(string.encode())
            self._suits = plain and ("." not in self.pattern or "\n" not in string)
        return self._suits and not ("$" in self.pattern and string[endpos - 1 : endpos] == "\n")

    def _one(self, string, pos, endpos, anchored, whole):
        if isinstance(string, str) != self._is_text:
            raise TypeError("cannot use a " + ("string" if self._is_text else "bytes") + " pattern on a "
                            + ("bytes-like object" if self._is_text else "string"))
        size = len(string)
        endpos = size if endpos is None else max(0, min(endpos, size))
        pos = max(0, pos)
        spans = self._find(string, pos, endpos, anchored, whole) if pos <= endpos else None
        return spans and Match(self, string, spans, pos, endpos)

    def match(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, True, False)

    def search(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, False, False)

    def fullmatch(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, True, True)

    def finditer(self, string, pos=0, endpos=None):
        endpos = len(string) if endpos is None else min(endpos, len(string))
        advance = False
        while pos <= endpos:
            spans = self._find(string, pos, endpos, advance=advance)
            if spans is None:
                return
            yield Match(self, string, spans, pos, endpos)
            pos, advance = spans[0][1], spans[0][0] == spans[0][1]

    def findall(self, string, pos=0, endpos=None):
        found = []
        empty = "" if self._is_text else b""
        for match in self.finditer(string, pos, endpos):
            groups = match.groups(empty)
            found.append(match.group() if not groups else groups[0] if len(groups) == 1 else groups)
        return found

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def subn(self, repl, string, count=0):
        parts, at, n = [], 0, 0
        template = None if callable(repl) else _template(self, repl)
        for match in self.finditer(string):
            if count and n == count:
                break
            start, end = match.span()
            parts.append(string[at:start])
            parts.append(repl(match) if template is None else _filled(template, match))
            at, n = end, n + 1
        parts.append(string[at:])
        return ("" if self._is_text else b"").join(parts), n

    def split(self, string, maxsplit=0):
        parts, at, n = [], 0, 0
        for match in self.finditer(string):
            if maxsplit and n == maxsplit:
                break
            start, end = match.span()
            parts.append(string[at:start])
            parts += match.groups()
            at, n = end, n + 1
        parts.append(string[at:])
        return parts

    def __repr__(self):
        return "re.compile(" + repr(self.pattern) + ")"

    def __eq__(self, other):
        return isinstance(other, Pattern) and (self.pattern, self._given) == (other.pattern, other._given)

    def __hash__(self):
        return hash((self.pattern, self._given))


_SHARED = "dswDSW"


def _is_shared(pattern):
    """Whether a pattern has only what the interpreter's engine takes as CPython does."""
    before = ""
    for c in pattern:
        if c > "~" or c < " " or c == "{":
            return False
        if before == "\\":
            if c.isalpha() and c not in _SHARED or c.isdigit():
                return False
            c = ""
        elif c == "?" and before == "(":
            c = "(?"
        elif before == "(?" and c != ":":
            return False
        elif c in "|)" and before in ("(", "|", "(?:"):
            return False
        elif c == ":" and before == "(?":
            c = "(?:"
        elif c in "*+" and before in ("*", "+", "?") or c == "]" and before in ("[", "[^"):
            return False
        elif c == "^" and before == "[":
            c = "[^"
        before = c
    return before != "|" and ("[" not in pattern or all([_is_plain(s.split("]")[0]) for s in pattern.split("[")[1:]]))


def _is_plain(inside):
    """Whether a set has no parenthesis, by which groups are counted, and no range from high to low."""
    for i in range(1, len(inside) - 1):
        if inside[i] == "-" and inside[i - 1] > inside[i + 1]:
            return False
    return "(" not in inside


def _template(pattern, text):
    """Texts and numbers of groups, in turn."""
    from .parser import template

    return template(pattern, text)


def _filled(parts, match):
    empty = "" if match.re._is_text else b""
    return empty.join([match._text(p, empty) if isinstance(p, int) else p for p in parts])


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    key = (pattern, flags)
    found = _cache.get(key)
    if found is None:
        if len(_cache) >= _MAX_CACHE:
            _cache.clear()
        found = _cache[key] = Pattern(pattern, flags)
    return found


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def escape(pattern):
    if not isinstance(pattern, str):
        return escape(str(pattern, "utf-8")).encode()
    return "".join(["\\" + c if c in "()[]{}?*+-|^$\\.&~# \t\n\r\v\f" else c for c in pattern])


def purge():
    _cache.clear()
