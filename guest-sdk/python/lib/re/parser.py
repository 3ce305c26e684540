"""Reads patterns to trees. A node is a tuple that begins with its kind."""

A = ASCII = 256
I = IGNORECASE = 2
M = MULTILINE = 8
S = DOTALL = 16
U = UNICODE = 32
X = VERBOSE = 64
_LETTERS = {"a": A, "i": I, "m": M, "s": S, "u": U, "x": X}
_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_MOST = 1000  # repetitions that a pattern names


class error(Exception):
    def __init__(self, msg, pattern=None, pos=None):
        self.msg, self.pattern, self.pos = msg, pattern, pos
        super().__init__(msg if pos is None else msg + " at position " + str(pos))


class Parsed:
    """A tree, with how many groups it has and which have names."""

    def __init__(self, node, groups, names, flags):
        self.node, self.groups, self.names, self.flags = node, groups, names, flags


def parse(pattern, flags):
    is_text = isinstance(pattern, str)
    text = pattern if is_text else "".join([chr(b) for b in pattern])
    reader = _Reader(text, flags)
    node = reader.alternatives()
    if reader.at < len(reader.chars):
        raise reader.error("unbalanced parenthesis")
    flags = reader.flags | (UNICODE if is_text and not reader.flags & ASCII else 0)
    return Parsed(node, reader.groups, reader.names, flags)


class _Reader:
    def __init__(self, text, flags):
        self.text = text
        self.chars = list(text)
        self.at = 0
        self.flags = flags
        self.groups = 0
        self.names = {}
        self.open = []  # numbers of groups that have begun

    def error(self, message, at=None):
        return error(message, self.text, self.at if at is None else at)

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.chars[at] if at < len(self.chars) else ""

    def take(self):
        c = self.peek()
        self.at += 1
        return c

    def skip(self, word):
        """Whether the pattern goes on with a word, which is passed then."""
        for i in range(len(word)):
            if self.peek(i) != word[i]:
                return False
        self.at += len(word)
        return True

    def until(self, end, what):
        start = self.at
        while self.peek() != end:
            if not self.peek():
                raise self.error("missing " + end + ", unterminated name" if what else "missing " + end, start)
            self.at += 1
        self.at += 1
        found = "".join(self.chars[start : self.at - 1])
        if not found and what:
            raise self.error("missing " + what, start)
        return found

    def alternatives(self):
        branches = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else ("alt", branches)

    def sequence(self):
        nodes = []
        while self.peek() not in ("", "|", ")"):
            if self.flags & X and self.blank():
                continue
            node = self.atom()
            if node is not None:
                nodes.append(self.repeated(node))
        return ("cat", nodes)

    def blank(self):
        """Passes white space and a comment of a verbose pattern."""
        if self.peek() == "#":
            while self.peek() not in ("", "\n"):
                self.at += 1
            return True
        if self.peek() in " \t\n\r\f\v":
            self.at += 1
            return True
        return False

    def atom(self):
        start = self.at
        c = self.take()
        if c == ".":
            return ("any", self.flags)
        if c == "^":
            return ("at", "line" if self.flags & M else "start")
        if c == "$":
            return ("at", "eol" if self.flags & M else "end")
        if c == "(":
            return self.group(start)
        if c == "[":
            return self.set(start)
        if c == "\\":
            return self.escape(start)
        if c in "*+?":
            raise self.error("nothing to repeat", start)
        return ("lit", ord(c), self.flags)

    def repeated(self, node):
        while True:
            start = self.at
            if self.flags & X:
                while self.peek() and self.blank():
                    pass
            c = self.peek()
            if c == "*":
                low, high = 0, None
            elif c == "+":
                low, high = 1, None
            elif c == "?":
                low, high = 0, 1
            elif c == "{" and self.bounds():
                low, high = self.bounds()
                while self.peek() != "}":
                    self.at += 1
            else:
                return node
            self.at += 1
            if node[0] == "rep":
                raise self.error("multiple repeat", start)
            if node[0] == "at":
                raise self.error("nothing to repeat", start)
            if self.peek() == "+":
                raise self.error("possessive repetition is not to be had here", start)
            greedy = not self.skip("?")
            node = ("rep", node, low, high, greedy)

    def bounds(self):
        """The least and the most of {m,n}; None when it is no repetition."""
        i = 1
        while self.peek(i).isdigit() or self.peek(i) == ",":
            i += 1
        inside = "".join(self.chars[self.at + 1 : self.at + i])
        if self.peek(i) != "}" or not inside or inside.count(",") > 1:
            return None
        low, comma, high = inside.partition(",")
        if not comma:
            high = low
        low = int(low) if low else 0
        high = int(high) if high else None
        if low > _MOST or (high or 0) > _MOST:
            raise self.error("the repetition number is too large: at most " + str(_MOST) + " are taken here")
        if high is not None and high < low:
            raise self.error("min repeat greater than max repeat", self.at + 1)
        return low, high

    def group(self, start):
        name, number = None, None
        outer = self.flags
        if self.skip("?"):
            c = self.take()
            if c == "P" and self.skip("<"):
                name = self.until(">", "group name")
            elif c == "P" and self.skip("="):
                name = self.until(")", "group name")
                if name not in self.names:
                    raise self.error("unknown group name " + repr(name), self.at - len(name) - 1)
                return ("ref", self.names[name], self.flags)
            elif c == "#":
                self.until(")", "")
                return None
            elif c in "=!" and c:
                return self.look(start, True, c == "!")
            elif c == "<" and self.peek() in ("=", "!") and self.peek():
                return self.look(start, False, self.take() == "!")
            elif c != ":":
                if not self.inline(c, start):
                    return None
        else:
            pass
        if name is not None or self.chars[start + 1 : start + 2] != ["?"]:
            self.groups += 1
            number = self.groups
            if name is not None:
                if not _is_name(name):
                    raise self.error("bad character in group name " + repr(name), start + 4)
                if name in self.names:
                    raise self.error("redefinition of group name %r as group %d; was group %d" % (
                        name, number, self.names[name]), start + 4)
                self.names[name] = number
        self.open.append(number)
        node = self.alternatives()
        self.open.pop()
        if self.take() != ")":
            raise self.error("missing ), unterminated subpattern", start)
        self.flags = outer
        return node if number is None else ("grp", number, node)

    def inline(self, c, start):
        """Reads flags, as in (?i) and (?i-s:…); returns whether a group follows."""
        on, off, target = 0, 0, True
        while c not in (":", ")"):
            if c == "-":
                target = False
            elif c in _LETTERS and c:
                on, off = (on | _LETTERS[c], off) if target else (on, off | _LETTERS[c])
            else:
                raise self.error("unknown extension ?" + c, start + 1)
            c = self.take()
        if c == ")" and start != 0:
            raise self.error("global flags not at the start of the expression", start)
        self.flags = (self.flags | on) & ~off
        return c == ":"

    def look(self, start, ahead, negated):
        node = self.alternatives()
        if self.take() != ")":
            raise self.error("missing ), unterminated subpattern", start)
        if not ahead:
            low, high = width(node)
            if low != high:
                raise error("look-behind requires fixed-width pattern")
            return ("behind", node, negated, low)
        return ("ahead", node, negated)

    def escape(self, start):
        c = self.take()
        if not c:
            raise self.error("bad escape (end of pattern)", start)
        if c in "dDsSwW":
            return ("set", False, [("cls", c)], self.flags)
        if c in "AbBZ":
            return ("at", {"A": "start", "b": "word", "B": "inside", "Z": "last"}[c], self.flags)
        if c.isdigit() and c != "0":
            digits = c
            if self.peek().isdigit():
                digits += self.take()
            number = int(digits)
            if number > self.groups:
                raise self.error("invalid group reference " + digits, start + 1)
            if number in self.open:
                raise self.error("cannot refer to an open group", start)
            return ("ref", number, self.flags)
        return ("lit", self.code(c, start, False), self.flags)

    def code(self, c, start, in_set):
        """The character of an escape."""
        if c == "x" or c == "u" or c == "U":
            size = {"x": 2, "u": 4, "U": 8}[c]
            digits = "".join(self.chars[self.at : self.at + size])
            if len(digits) < size or [d for d in digits if d not in "0123456789abcdefABCDEF"]:
                raise self.error("incomplete escape \\" + c + digits, start)
            self.at += size
            return int(digits, 16)
        if c == "0":
            digits = "0"
            while len(digits) < 3 and self.peek() in ("0", "1", "2", "3", "4", "5", "6", "7"):
                digits += self.take()
            return int(digits, 8)
        if c in _ESCAPES and (c != "b" or in_set):
            return _ESCAPES[c]
        if c.isalpha() and c < "\x80":
            raise self.error("bad escape \\" + c, start)
        return ord(c)

    def set(self, start):
        negated = self.skip("^")
        items, first = [], True
        while True:
            at = self.at
            c = self.take()
            if not c:
                raise self.error("unterminated character set", start)
            if c == "]" and not first:
                return ("set", negated, items, self.flags)
            first = False
            low = self.member(c, at)
            if self.peek() == "-" and self.peek(1) not in ("]", ""):
                self.at += 1
                high = self.member(self.take(), self.at - 1)
                if not isinstance(low, int) or not isinstance(high, int) or high < low:
                    raise self.error("bad character range " + "".join(self.chars[at : self.at]), at)
                items.append(("rng", low, high))
            else:
                items.append(("rng", low, low) if isinstance(low, int) else low)

    def member(self, c, at):
        if c != "\\":
            return ord(c)
        c = self.take()
        if c and c in "dDsSwW":
            return ("cls", c)
        return self.code(c, at, True)


def _is_name(name):
    return name.isidentifier()


def width(node):
    """The least and the most characters that a node takes; None for no bound."""
    kind = node[0]
    if kind in ("lit", "any", "set"):
        return 1, 1
    if kind == "grp":
        return width(node[2])
    if kind == "cat":
        low = high = 0
        for inner in node[1]:
            a, b = width(inner)
            low, high = low + a, None if b is None or high is None else high + b
        return low, high
    if kind == "alt":
        widths = [width(inner) for inner in node[1]]
        high = None if [b for _, b in widths if b is None] else max([b for _, b in widths])
        return min([a for a, _ in widths]), high
    if kind == "rep":
        a, b = width(node[1])
        return a * node[2], None if b is None or node[3] is None else b * node[3]
    if kind == "ref":
        return 0, None
    return 0, 0


def template(pattern, text):
    """The texts and the numbers of groups that a replacement is made of."""
    is_text = isinstance(text, str)
    source = text if is_text else "".join([chr(b) for b in text])
    parts, literal, i = [], "", 0
    while i < len(source):
        c = source[i]
        i += 1
        if c != "\\":
            literal += c
            continue
        c = source[i : i + 1]
        i += 1
        if c == "g":
            end = source.find(">", i)
            if source[i : i + 1] != "<" or end < 0:
                raise error("missing <", source, i)
            name = source[i + 1 : end]
            i = end + 1
            number = int(name) if name.isdigit() else pattern.groupindex.get(name)
            if number is None:
                raise IndexError("unknown group name " + repr(name))
        elif c.isdigit() and c != "0":
            if source[i : i + 1].isdigit():
                c += source[i]
                i += 1
            number = int(c)
        elif c == "0":
            literal += "\0"
            continue
        elif c in _ESCAPES and c:
            literal += chr(_ESCAPES[c])
            continue
        elif c.isalpha() or not c:
            raise error("bad escape \\" + c if c else "bad escape (end of pattern)", source, i - 2)
        else:
            literal += "\\" + c
            continue
        if number > pattern.groups:
            raise error("invalid group reference " + str(number), source, i - len(c))
        parts += [literal if is_text else bytes([ord(x) for x in literal]), number]
        literal = ""
    parts.append(literal if is_text else bytes([ord(x) for x in literal]))
    return parts
