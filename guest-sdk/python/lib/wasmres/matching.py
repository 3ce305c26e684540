"""Matches URIs against templates (RFC 6570) by the host's rules: see abi/uritemplate of wasmres, whose table of cases holds
for both."""

_UNRESERVED = "-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_RESERVED = ":/?#[]@!$&'()*+,;="
_HEX = "0123456789abcdefABCDEF"
_ESCAPED = 0x110000  # and an octet that stays escaped
_BROKEN = 0x110100  # a percent sign that begins no escape


def find(templates, uri):
    """The index of the most specific template that fits a URI, and the values of its variables by name, lists of str; None
    when none fits."""
    text = symbols(uri)
    best = None
    for index, source in enumerate(templates):
        template = Template(source)
        if best is None or template.specificity() < best[0]:
            found = Match(template, text).values()
            if found is not None:
                best = template.specificity(), index, found
    return best and best[1:]


def symbols(text):
    """A text in normal form, a list of numbers: of characters, escaped unreserved and non-ASCII ones as themselves, or of
    octets that stay escaped."""
    found, at = [], 0
    while at < len(text):
        symbol, size = _unescape(text, at) if text[at] == "%" else (ord(text[at]), 1)
        found.append(symbol)
        at += size
    return found


def _unescape(text, at):
    """The symbol that a percent sign begins, and how many characters it takes."""
    octets = bytearray()
    while len(octets) < 4 and text[at + 3 * len(octets) : at + 3 * len(octets) + 1] == "%":
        digits = text[at + 3 * len(octets) + 1 : at + 3 * len(octets) + 3]
        if len(digits) < 2 or digits[0] not in _HEX or digits[1] not in _HEX:
            break
        octets.append(int(digits, 16))
    if not octets:
        return _BROKEN, 1
    if octets[0] < 0x80:
        return (octets[0] if chr(octets[0]) in _UNRESERVED else _ESCAPED + octets[0]), 3
    for size in range(2, len(octets) + 1):
        c = _decoded(octets[:size])
        if c is not None:
            return c, 3 * size
    return _ESCAPED + octets[0], 3


def _decoded(octets):
    """The one character that octets are in UTF-8, or None."""
    first, size = octets[0], len(octets)
    if size != (2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF5 else 0):
        return None
    c = first & (0x7F >> size)
    for octet in octets[1:]:
        if octet & 0xC0 != 0x80:
            return None
        c = c << 6 | (octet & 0x3F)
    if c < (0, 0, 0x80, 0x800, 0x10000)[size] or 0xD800 <= c < 0xE000 or c > 0x10FFFF:
        return None
    return c


def _may_hold(ascii, symbol):
    """Whether a value may hold a symbol, given the ASCII it may hold: no control characters and nothing broken."""
    if symbol < 0x80:
        return chr(symbol) in ascii
    if symbol < _ESCAPED:
        return symbol >= 0xA0
    return 0x20 <= symbol - _ESCAPED < 0x7F


class _Variable:
    def __init__(self, spec, part):
        self.part = part
        self.name, self.limit, self.explode = spec, 1 << 30, False  # limit is in characters
        if ":" in spec:
            self.name, limit = spec.split(":", 1)
            self.limit = int(limit)
        elif spec.endswith("*"):
            self.name, self.explode = spec[:-1], True
        self.key = symbols(self.name)
        self.list = None  # what stands between the elements of a value that may be a list
        self.ascii = _UNRESERVED  # what a value may hold

    def may_hold(self, symbol):
        return _may_hold(self.ascii, symbol)


class _Expression:
    """What stands between braces."""

    def __init__(self, operator, variables):
        self.operator = operator
        self.marker = operator if operator in "#./;?&" and operator else None  # stands before the first value
        self.separator = {"": ",", "+": ",", "#": ",", "?": "&"}.get(operator, operator)  # stands between two
        self.variables = variables  # a range
        self.named = operator in ("?", "&", ";")  # values come as name=value
        self.reserved = operator in ("+", "#")

    def classify(self, variable, query, fragment):
        ascii = _UNRESERVED + (_RESERVED if self.reserved else "")
        if self.operator == "+":
            ascii = "".join([c for c in ascii if not (query and c == "?" or fragment and c == "#")])
        if self.marker in ("?", "&"):
            ascii += "/:@"  # which people write as they are
        if self.named and variable.limit == 1 << 30:
            variable.list = ","
        elif not self.named and variable.explode:
            variable.list = self.separator
        if variable.list:
            ascii += variable.list
        elif not self.named and len(self.variables) > 1:
            ascii = "".join([c for c in ascii if c != self.separator])
        variable.ascii = ascii


class Template:
    def __init__(self, source):
        self.source = source
        self.parts = []  # lists of symbols, and expressions
        self.variables = []
        rest = source
        while rest:
            literal, _, rest = rest.partition("{")
            if literal:
                self.parts.append(symbols(literal))
            if rest:
                inside, _, rest = rest.partition("}")
                self._add(inside)
        self._classify()

    def _add(self, inside):
        operator = inside[0] if inside[0] in "+#./;?&" else ""
        first = len(self.variables)
        for spec in inside[len(operator) :].split(","):
            self.variables.append(_Variable(spec, len(self.parts)))
        self.parts.append(_Expression(operator, range(first, len(self.variables))))

    def _classify(self):
        """Says what each value may hold, which depends on what stands later in the template."""
        query = fragment = False
        for part in reversed(self.parts):
            if isinstance(part, list):
                query = query or ord("?") in part
                fragment = fragment or ord("#") in part
                continue
            for v in part.variables:
                part.classify(self.variables[v], query, fragment)
            query = query or part.marker == "?"
            fragment = fragment or part.marker == "#"

    def specificity(self):
        """Orders templates: the least one is the most specific."""
        shape = []
        for part in self.parts:
            if isinstance(part, list):
                shape += [0] * len(part)
            elif part.reserved:
                shape.append(4)
            else:
                shape.append(3 if any([self.variables[v].explode for v in part.variables]) else 2)
        return tuple(shape) + (1,), len(self.variables), self.source


class Match:
    """One template and one URI: reach goes forwards and notes at which positions a part can begin, deal goes back and
    chooses."""

    def __init__(self, template, text):
        self.template = template
        self.text = text
        self.begins, self.ends = {}, {}  # where a value may begin and end, for each variable without a name
        self.pairs = {}  # by part: variable, position, beginning and latest end of a value with a name
        self.captures = []  # variables and values, last to first

    def values(self):
        parts, end = self.template.parts, len(self.text)
        self._find_pairs()
        reached = [[True] + [False] * end]
        for i, part in enumerate(parts):
            if isinstance(part, list):
                reached.append(self._after_literal(part, reached[i]))
            elif part.named:
                reached.append(self._after_pairs(i, part, reached[i]))
            else:
                reached.append(self._after_values(part, reached[i]))
        if not reached[-1][end]:
            return None
        self.reached, at = reached, end
        for i in range(len(parts) - 1, -1, -1):
            if isinstance(parts[i], list):
                at -= len(parts[i])
            else:
                at = self._deal_pairs(i, parts[i], at) if parts[i].named else self._deal_values(parts[i], at)
        return self._found()

    def _found(self):
        found = {}
        for v in range(len(self.template.variables)):
            for variable, value in reversed(self.captures):
                if variable == v:
                    if _is_traversal(value):
                        return None
                    found.setdefault(self.template.variables[v].name, []).append(value)
        return found

    def _is(self, at, c):
        return c is not None and 0 <= at < len(self.text) and self.text[at] == ord(c)

    def _after_literal(self, literal, origins):
        size, text = len(literal), self.text
        return [end >= size and origins[end - size] and text[end - size : end] == literal for end in range(len(origins))]

    def _after_values(self, expression, origins):
        """Where an expression may end whose values have no names; notes where they may begin and end."""
        marked = expression.marker is not None
        ends = list(origins) if marked else [False] * len(origins)
        begins = self._after_char(origins, expression.marker) if marked else origins
        for v in expression.variables:
            own = self._after_value(self.template.variables[v], begins, not marked and v == expression.variables[0])
            ends = [a or b for a, b in zip(ends, own)]
            self.begins[v], self.ends[v] = begins, own
            begins = self._after_char(own, expression.separator)
        return ends

    def _after_char(self, origins, c):
        return [at > 0 and origins[at - 1] and self._is(at - 1, c) for at in range(len(origins))]

    def _after_value(self, variable, begins, non_empty):
        """Where a value may end that begins at one of some positions."""
        least, ends = None, []  # characters since a beginning
        for at, begin in enumerate(begins):
            grown = least is not None and least < variable.limit and variable.may_hold(self.text[at - 1])
            ends.append(grown or (begin and not non_empty))
            least = 0 if begin else least + 1 if grown else None
        return ends

    def _find_pairs(self):
        for at in range(len(self.text)):
            if not (self._is(at, "?") or self._is(at, "&") or self._is(at, ";")):
                continue
            key = _key(self.text, at + 1)
            for v, variable in enumerate(self.template.variables):
                if variable.key == key:
                    self._add_pair(v, at, at + 1 + len(key))

    def _add_pair(self, v, at, value):
        variable = self.template.variables[v]
        expression = self.template.parts[variable.part]
        if not expression.named or not (self._is(at, expression.marker) or self._is(at, expression.separator)):
            return
        pairs = self.pairs.setdefault(variable.part, [])
        if self._is(value, "="):
            end = value + 1
            while end < len(self.text) and end - value <= variable.limit and variable.may_hold(self.text[end]):
                end += 1
            pairs.append((v, at, value + 1, end))
        elif expression.marker == ";":
            pairs.append((v, at, value, value))  # an empty value may go without "="

    def _after_pairs(self, part, expression, origins):
        """Where an expression with names may end: behind a chain of adjacent pairs that begins with a marker, in which no
        variable comes twice that may not."""
        ends = list(origins)
        seen = {}  # one more than where each was seen last
        start = floor = 0  # one more than where the chain begins, and than where it may
        last = None
        for v, at, value, end in self.pairs.get(part, ()):
            if last != at or not self._is(at, expression.separator):
                start = 0
            if origins[at] and self._is(at, expression.marker):
                start = at + 1
            if not self.template.variables[v].explode:
                floor = max(floor, seen.get(v, 0))
                seen[v] = at + 1
            if start > floor:
                for i in range(value, end + 1):
                    ends[i] = True
            last = end
        return ends

    def _deal_values(self, expression, at):
        """Captures the values of an expression that ends at a position, and gives where it begins: as many variables as can
        be, each as short as can be."""
        first = expression.variables[0]
        last = [v for v in expression.variables if self.ends[v][at]]
        for v in range(last[-1] if last else first - 1, first - 1, -1):
            unmarked = v == first and expression.marker is None
            begin = at - 1 if unmarked else at  # as it is not empty
            while not self.begins[v][begin]:
                begin -= 1
            self._capture(v, begin, at)
            if unmarked:
                return begin
            at = begin - 1
        return at

    def _deal_pairs(self, part, expression, at):
        """Captures the values of an expression with names, as many as can be."""
        pairs = self.pairs.get(part, [])
        last = len(pairs) - 1
        while last >= 0 and pairs[last][2] > at:
            last -= 1
        if last < 0 or pairs[last][3] < at:
            return at
        seen, first = set(), None
        for j in range(last, -1, -1):
            v, begin, _, end = pairs[j]
            if j < last and not (end == pairs[j + 1][1] and self._is(end, expression.separator)) or v in seen:
                break
            if not self.template.variables[v].explode:
                seen.add(v)
            if self.reached[part][begin] and self._is(begin, expression.marker):
                first = j
        if first is None:
            return at
        for j in range(last, first - 1, -1):
            v, _, value, end = pairs[j]
            self._capture(v, value, at if j == last else end)
        return pairs[first][1]

    def _capture(self, v, begin, end):
        """Notes a value, or the elements of a list from the last to the first."""
        between, values, value = self.template.variables[v].list, [], []
        for symbol in self.text[begin:end]:
            if between and symbol == ord(between):
                values.append(value)
                value = []
            else:
                value.append(symbol)
        values.append(value)
        for value in reversed(values):
            self.captures.append((v, "".join([chr(s - _ESCAPED if s >= _ESCAPED else s) for s in value])))


def _key(text, at):
    """What a text goes on with that can be a part of a variable's name."""
    end = at
    while end < len(text) and (chr(text[end]) in _UNRESERVED if text[end] < 0x80 else text[end] < _BROKEN):
        end += 1
    return text[at:end]


def _is_traversal(value):
    """Whether a value is a dot segment or has a double dot as a segment, where a backslash counts as a slash."""
    return value == "." or ".." in value.replace("\\", "/").split("/")
