"""Queues and tuples with names."""

from ucollections import namedtuple as _native


class deque:
    """A queue that grows and shrinks at both ends."""

    def __init__(self, iterable=(), maxlen=None):
        self.maxlen = maxlen
        self._items = []  # from _first on
        self._first = 0
        self.extend(iterable)

    def append(self, item):
        self._items.append(item)
        if self.maxlen is not None and len(self) > self.maxlen:
            self.popleft()

    def appendleft(self, item):
        if self._first == 0:
            room = len(self._items) + 8
            self._items = [None] * room + self._items
            self._first = room
        self._first -= 1
        self._items[self._first] = item
        if self.maxlen is not None and len(self) > self.maxlen:
            self.pop()

    def pop(self):
        if not len(self):
            raise IndexError("pop from an empty deque")
        return self._items.pop()

    def popleft(self):
        if not len(self):
            raise IndexError("pop from an empty deque")
        item = self._items[self._first]
        self._items[self._first] = None
        self._first += 1
        if self._first > 16 and self._first * 2 > len(self._items):
            self._items = self._items[self._first :]
            self._first = 0
        return item

    def extend(self, iterable):
        for item in iterable:
            self.append(item)

    def extendleft(self, iterable):
        for item in iterable:
            self.appendleft(item)

    def _list(self):
        return self._items[self._first :]

    def _replace(self, items):
        self._items, self._first = items, 0

    def clear(self):
        self._replace([])

    def copy(self):
        return deque(self._list(), self.maxlen)

    def count(self, item):
        return self._list().count(item)

    def index(self, item, *bounds):
        return self._list().index(item, *bounds)

    def insert(self, i, item):
        if self.maxlen is not None and len(self) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        items = self._list()
        items.insert(i, item)
        self._replace(items)

    def remove(self, item):
        items = self._list()
        if item not in items:
            raise ValueError("deque.remove(x): x not in deque")
        items.remove(item)
        self._replace(items)

    def reverse(self):
        self._replace(self._list()[::-1])

    def rotate(self, n=1):
        items = self._list()
        if items:
            n %= len(items)
            self._replace(items[len(items) - n :] + items[: len(items) - n])

    def _at(self, i):
        n = len(self)
        if not -n <= i < n:
            raise IndexError("deque index out of range")
        return self._first + (i + n if i < 0 else i)

    def __getitem__(self, i):
        return self._items[self._at(i)]

    def __setitem__(self, i, item):
        self._items[self._at(i)] = item

    def __delitem__(self, i):
        del self._items[self._at(i)]

    def __len__(self):
        return len(self._items) - self._first

    def __iter__(self):
        return iter(self._list())

    def __reversed__(self):
        return iter(self._list()[::-1])

    def __contains__(self, item):
        return item in self._list()

    def __eq__(self, other):
        return isinstance(other, deque) and self._list() == other._list()

    def __add__(self, other):
        return deque(self._list() + list(other), self.maxlen)

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __bool__(self):
        return len(self) > 0

    def __repr__(self):
        return "deque(" + repr(self._list()) + (")" if self.maxlen is None else ", maxlen=" + str(self.maxlen) + ")")


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    names = list(field_names)
    for i in range(len(names)):
        wrong = names[i].startswith("_") or names[i] in names[:i] or not names[i]
        if wrong and not rename:
            raise ValueError("Field names cannot start with an underscore or be used twice: " + repr(names[i]))
        if wrong:
            names[i] = "_" + str(i)
    return made(typename, names, dict(zip(names[len(names) - len(defaults or ()) :], defaults or ())), {})


def made(typename, names, defaults, members):
    """The class of a tuple with names, with more members."""
    base = _native(typename, names)

    def init(self, *args, **named):
        if len(args) > len(names):
            raise TypeError(typename + "() takes " + str(len(names)) + " positional arguments but " + str(len(args))
                            + " were given")
        for name in names[len(args) :]:
            if name in named:
                args += (named.pop(name),)
            elif name in defaults:
                args += (defaults[name],)
            else:
                raise TypeError(typename + "() missing the required argument " + repr(name))
        for name in named:
            raise TypeError(typename + "() got an unexpected keyword argument " + repr(name))
        super(cls, self).__init__(*args)

    def replace(self, **named):
        values = self._asdict()
        for name in named:
            if name not in values:
                raise ValueError("Got unexpected field names: " + repr(list(named)))
        values.update(named)
        return type(self)(**values)

    members.update(
        __init__=init,
        _fields=tuple(names),
        _field_defaults=defaults,
        _make=classmethod(lambda cls, values: cls(*values)),
        _asdict=lambda self: dict(zip(names, self)),
        _replace=replace,
        __repr__=lambda self: type(self).__name__ + "(" + ", ".join([n + "=" + repr(v) for n, v in zip(names, self)]) + ")",
    )
    cls = type(typename, (base,), members)
    return cls


class UserList(list):
    @property
    def data(self):
        return self


class UserString(str):
    @property
    def data(self):
        return str(self)
