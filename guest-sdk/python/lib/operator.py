"""Operators as functions."""


class itemgetter:
    def __init__(self, *items):
        self._items = items

    def __call__(self, obj):
        if len(self._items) == 1:
            return obj[self._items[0]]
        return tuple([obj[item] for item in self._items])


class attrgetter:
    def __init__(self, *names):
        self._names = names

    def __call__(self, obj):
        values = [_attribute(obj, name) for name in self._names]
        return values[0] if len(values) == 1 else tuple(values)


def _attribute(obj, name):
    for part in name.split("."):
        obj = getattr(obj, part)
    return obj


class methodcaller:
    def __init__(self, name, *args, **named):
        self._made = name, args, named

    def __call__(self, obj):
        name, args, named = self._made
        return getattr(obj, name)(*args, **named)


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def truediv(a, b):
    return a / b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def matmul(a, b):
    return a @ b


def neg(a):
    return -a


def pos(a):
    return +a


def inv(a):
    return ~a


invert = inv


def lshift(a, b):
    return a << b


def rshift(a, b):
    return a >> b


def and_(a, b):
    return a & b


def or_(a, b):
    return a | b


def xor(a, b):
    return a ^ b


def not_(a):
    return not a


def truth(a):
    return bool(a)


def is_(a, b):
    return a is b


def is_not(a, b):
    return a is not b


def eq(a, b):
    return a == b


def ne(a, b):
    return a != b


def lt(a, b):
    return a < b


def le(a, b):
    return a <= b


def gt(a, b):
    return a > b


def ge(a, b):
    return a >= b


def concat(a, b):
    return a + b


def contains(a, b):
    return b in a


def countOf(a, b):
    return len([item for item in a if item == b])


def indexOf(a, b):
    for i, item in enumerate(a):
        if item == b:
            return i
    raise ValueError("sequence.index(x): x not in sequence")


def getitem(a, b):
    return a[b]


def setitem(a, b, value):
    a[b] = value


def delitem(a, b):
    del a[b]


def iadd(a, b):
    a += b
    return a


def index(a):
    return a.__index__() if hasattr(a, "__index__") else int(a)


def length_hint(obj, default=0):
    return len(obj) if hasattr(obj, "__len__") else default


pow = pow
abs = abs
