"""Matches by backtracking, with a stack of its own, so that a text may be long. Positions are those of characters."""

from .parser import ASCII, DOTALL, IGNORECASE

# Instructions: what they are, and two arguments. CHAR and SET take a character, SPLIT goes on at its first argument and, when
# that fails, at its second. RUN repeats what takes one character. AGAIN begins a further repetition, RESET the first one.
CHAR, SET, SPLIT, JUMP, SAVE, AT, LOOK, REF, RUN, RESET, AGAIN, DONE = range(12)
_MOST = 20000  # instructions


class _Program:
    def __init__(self, groups):
        self.code = []
        self.slots = 2 * groups + 2
        self.groups = groups
        self.prefix = b""  # that all matches begin with, in ASCII




def compile(parsed):
    program = _Program(parsed.groups)
    _emit(program, parsed.node)
    program.code.append((DONE, 0, 0))
    program.prefix = bytes(_prefix(parsed.node))
    return program


def _prefix(node):
    codes = []
    for inner in node[1] if node[0] == "cat" else [node]:
        if inner[0] != "lit" or inner[2] & IGNORECASE or inner[1] > 127:
            break
        codes.append(inner[1])
    return codes


def _emit(program, node):
    code = program.code
    if len(code) > _MOST:
        from .parser import error

        raise error("the pattern is too large: repetitions in repetitions multiply")
    kind = node[0]
    if kind in ("lit", "any", "set"):
        test = _test_of(node)
        code.append((CHAR, test, 0) if isinstance(test, int) else (SET, test, 0))
    elif kind == "cat":
        for inner in node[1]:
            _emit(program, inner)
    elif kind == "alt":
        _emit_alternatives(program, node[1])
    elif kind == "grp":
        code.append((SAVE, 2 * node[1], 0))
        _emit(program, node[2])
        code.append((SAVE, 2 * node[1] + 1, 0))
    elif kind == "rep":
        _emit_repetition(program, node)
    elif kind == "at":
        code.append((AT, node[1], len(node) > 2 and node[2] & ASCII))
    elif kind == "ref":
        code.append((REF, node[1], node[2] & IGNORECASE))
    else:
        inner = _Program(program.groups)
        inner.slots = program.slots
        _emit(inner, node[1])
        inner.code.append((DONE, 0, 0))
        program.slots = max(program.slots, inner.slots)
        code.append((LOOK, inner, (node[2], node[3] if kind == "behind" else 0)))


def _emit_alternatives(program, branches):
    code, ends = program.code, []
    for branch in branches[:-1]:
        split = len(code)
        code.append(None)
        _emit(program, branch)
        ends.append(len(code))
        code.append(None)
        code[split] = (SPLIT, split + 1, len(code))
    _emit(program, branches[-1])
    for at in ends:
        code[at] = (JUMP, len(code), 0)


def _emit_repetition(program, node):
    _, inner, low, high, greedy = node
    code = program.code
    if inner[0] in ("lit", "any", "set"):
        code.append((RUN, _test_of(inner), (low, high, greedy)))
        return
    for _ in range(low):
        _emit(program, inner)
    if high is None:
        mark = program.slots
        program.slots += 1
        code.append((RESET, mark, 0))
        again = len(code)
        code.append(None)
        code.append(None)
        _emit(program, inner)
        code.append((JUMP, again, 0))
        code[again] = (AGAIN, mark, len(code))
        code[again + 1] = (SPLIT, again + 2, len(code)) if greedy else (SPLIT, len(code), again + 2)
        return
    splits = []
    for _ in range(high - low):
        splits.append(len(code))
        code.append(None)
        _emit(program, inner)
    for at in splits:
        code[at] = (SPLIT, at + 1, len(code)) if greedy else (SPLIT, len(code), at + 1)


def _test_of(node):
    """What a character is compared with: its code, or a pair of a table for ASCII and a function for the others."""
    if node[0] == "lit":
        if not node[2] & IGNORECASE or _lower(node[1]) == _upper(node[1]):
            return node[1]
        node = ("set", False, [("rng", node[1], node[1])], node[2])
    if node[0] == "any":
        return _EVERY if node[1] & DOTALL else _NO_NEWLINE
    _, negated, items, flags = node
    key = negated, tuple(items), flags & (IGNORECASE | ASCII)
    if key not in _tests:
        if len(_tests) >= _MAX_TESTS:
            _tests.clear()

        def other(c):
            return _in_items(c, items, flags) != negated

        _tests[key] = bytes([other(c) for c in range(128)]), other
    return _tests[key]


def _in_items(c, items, flags):
    folded = (c, _lower(c), _upper(c)) if flags & IGNORECASE else (c,)
    for item in items:
        if item[0] == "cls":
            if _in_class(c, item[1], flags & ASCII):
                return True
            continue
        for f in folded:
            if item[1] <= f <= item[2]:
                return True
    return False


def _in_class(c, name, ascii_only):
    kind = name.lower()
    if kind == "d":
        found = 48 <= c <= 57
    elif kind == "s":
        found = 9 <= c <= 13 or 28 <= c <= 32 and (c == 32 or not ascii_only)
        found = found or (not ascii_only and (c in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
                                              or 0x2000 <= c <= 0x200A))
    else:
        found = is_word(c, ascii_only)
    return found == (name == kind)


def is_word(c, ascii_only):
    if c < 128:
        return 48 <= c <= 57 or 65 <= c <= 90 or c == 95 or 97 <= c <= 122
    if ascii_only or c < 0xC0:
        return not ascii_only and c in (0xAA, 0xB2, 0xB3, 0xB5, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE)
    # Letters, as far as blocks of punctuation and of symbols tell.
    return c not in (0xD7, 0xF7) and not (0x2000 <= c < 0x2070 or 0x20A0 <= c < 0x2100 or 0x2190 <= c < 0x2C00
                                          or 0x2E00 <= c < 0x3005 or 0x3008 <= c < 0x3021 or 0xD800 <= c < 0xF900
                                          or 0xFE10 <= c < 0xFE70 or 0xFF00 <= c < 0xFF10 or 0x1F000 <= c < 0x20000)


def _lower(c):
    if 65 <= c <= 90 or (0xC0 <= c <= 0xDE and c != 0xD7) or 0x391 <= c <= 0x3A9 or 0x410 <= c <= 0x42F:
        return c + 32
    return c + 80 if 0x400 <= c <= 0x40F else c


def _upper(c):
    if 97 <= c <= 122 or (0xE0 <= c <= 0xFE and c != 0xF7) or 0x3B1 <= c <= 0x3C9 or 0x430 <= c <= 0x44F:
        return c - 32
    return c - 80 if 0x450 <= c <= 0x45F else c


def _codes(string):
    if not isinstance(string, str):
        return bytes(string)
    data = string.encode()
    return data if len(data) == len(string) else [ord(c) for c in string]


_last = [None, None]  # a text and its codes, as those of the matches of finditer


def search(program, string, pos, endpos, anchored, whole, advance):
    """The spans of the first match that begins at pos or, if not anchored, behind it; None when there is none."""
    if _last[0] is not string:
        _last[0], _last[1] = string, _codes(string)
    codes = _last[1]
    prefix = program.prefix if isinstance(codes, bytes) else b""
    start = pos
    while start <= endpos:
        if prefix and not anchored:
            start = codes.find(prefix, start, endpos)
            if start < 0:
                return None
        slots = [-1] * program.slots
        end = _run(program.code, codes, start, endpos, slots, whole, start if advance and start == pos else -1)
        if end >= 0:
            spans = [(start, end)]
            for i in range(2, 2 * program.groups + 2, 2):
                spans.append((slots[i], slots[i + 1]) if slots[i + 1] >= 0 else (-1, -1))
            return spans
        if anchored:
            return None
        start += 1
    return None


def _run(code, codes, pos, endpos, slots, whole, refused):
    """Where a match that begins at pos ends; -1 when there is none. It does not end at refused."""
    stack = []  # pairs: an instruction and a position, or what restores a slot, or the state of a RUN
    pc = 0
    while True:
        op, a, b = code[pc]
        ok = True
        if op == CHAR:
            if pos < endpos and codes[pos] == a:
                pos += 1
                pc += 1
            else:
                ok = False
        elif op == SET:
            if pos < endpos and (a[0][codes[pos]] if codes[pos] < 128 else a[1](codes[pos])):
                pos += 1
                pc += 1
            else:
                ok = False
        elif op == SPLIT:
            stack.append(b)
            stack.append(pos)
            pc = a
        elif op == JUMP:
            pc = a
        elif op == SAVE or op == RESET:
            stack.append(-1 - a)
            stack.append(slots[a])
            slots[a] = pos if op == SAVE else -1
            pc += 1
        elif op == AGAIN:
            if slots[a] == pos:  # the last repetition took nothing: there is no other
                pc = b
                continue
            stack.append(-1 - a)
            stack.append(slots[a])
            slots[a] = pos
            pc += 1
        elif op == RUN:
            low, high, greedy = b
            most = endpos if high is None else min(endpos, pos + high)
            least = pos + low
            end = _ran(a, codes, pos, most if greedy else min(least, endpos))
            ok = end >= least
            pc += 1
            if ok:
                if greedy and end > least:
                    stack.append(pc)
                    stack.append((end - 1, least))
                elif not greedy and end < most:
                    stack.append(pc)
                    stack.append((end, most, a))
                pos = end
        elif op == AT:
            ok = _is_at(a, codes, pos, endpos, b)
            pc += 1
        elif op == REF:
            length = slots[2 * a + 1] - slots[2 * a]
            ok = slots[2 * a + 1] >= 0 and pos + length <= endpos and _same(codes, slots[2 * a], pos, length, b)
            pos += length
            pc += 1
        elif op == LOOK:
            ok = _looks(a, b, codes, pos, endpos, slots, stack)
            pc += 1
        elif (whole and pos != endpos) or pos == refused:
            ok = False
        else:
            return pos
        while not ok:
            if not stack:
                return -1
            value = stack.pop()
            pc = stack.pop()
            if pc < 0:
                slots[-1 - pc] = value
                continue
            ok = True
            if isinstance(value, int):
                pos = value
            elif len(value) == 2:
                pos, least = value
                if pos > least:
                    stack.append(pc)
                    stack.append((pos - 1, least))
            else:
                at, most, test = value
                pos = _ran(test, codes, at, at + 1)
                ok = pos > at
                if ok and pos < most:
                    stack.append(pc)
                    stack.append((pos, most, test))


def _ran(test, codes, pos, most):
    """Where the characters end, from pos on and before most, that a test takes."""
    if isinstance(test, int):
        while pos < most and codes[pos] == test:
            pos += 1
        return pos
    table, other = test
    while pos < most:
        c = codes[pos]
        if not (table[c] if c < 128 else other(c)):
            break
        pos += 1
    return pos


def _is_at(where, codes, pos, endpos, ascii_only):
    if where == "start":
        return pos == 0
    if where == "last":
        return pos == endpos
    if where == "end":
        return pos == endpos or (pos == endpos - 1 and codes[pos] == 10)
    if where == "line":
        return pos == 0 or codes[pos - 1] == 10
    if where == "eol":
        return pos == endpos or codes[pos] == 10
    if endpos == 0:
        return False
    before = pos > 0 and is_word(codes[pos - 1], ascii_only)
    after = pos < endpos and is_word(codes[pos], ascii_only)
    return (before != after) == (where == "word")


def _same(codes, start, pos, length, fold):
    for i in range(length):
        c, d = codes[start + i], codes[pos + i]
        if c != d and not (fold and _lower(c) == _lower(d)):
            return False
    return True


def _looks(program, options, codes, pos, endpos, slots, stack):
    negated, back = options
    if pos < back:
        return negated
    inner = list(slots) + [-1] * (program.slots - len(slots))
    found = _run(program.code, codes, pos - back, pos if back else endpos, inner, back > 0, -1) >= 0
    if found and not negated:
        for i in range(len(slots)):
            if slots[i] != inner[i]:
                stack.append(-1 - i)
                stack.append(slots[i])
                slots[i] = inner[i]
    return found != negated


_tests = {}  # by what a set has
_MAX_TESTS = 200
_EVERY = bytes([1] * 128), lambda c: True
_NO_NEWLINE = bytes([c != 10 for c in range(128)]), lambda c: True
for _name in "dswDSW":
    _test_of(("set", False, [("cls", _name)], 0))
