"""Dicts with more."""


class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        value = self.pop(key)
        if last:
            self[key] = value
            return
        others = list(self.items())
        self.clear()
        self[key] = value
        self.update(others)

    def popitem(self, last=True):
        if not self:
            raise KeyError("dictionary is empty")
        key = list(self)[-1] if last else next(iter(self))
        return key, self.pop(key)

    def copy(self):
        return OrderedDict(self.items())

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return list(self.items()) == list(other.items())
        return dict(self.items()) == other

    def __reversed__(self):
        return iter(list(self)[::-1])

    def __repr__(self):
        return "OrderedDict(" + (repr(list(self.items())) if self else "") + ")"


class defaultdict(dict):
    def __init__(self, default_factory=None, *args, **named):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable or None")
        super().__init__()
        self.default_factory = default_factory
        for other in args:
            self.update(other.items() if isinstance(other, dict) else other)
        self.update(named)

    def __getitem__(self, key):
        if key not in self:
            return self.__missing__(key)
        return super().__getitem__(key)

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self.default_factory()
        self[key] = value
        return value

    def copy(self):
        return defaultdict(self.default_factory, self)

    def __repr__(self):
        return "defaultdict(" + repr(self.default_factory) + ", " + repr(dict(self.items())) + ")"


class Counter(dict):
    def __init__(self, iterable=None, **named):
        super().__init__()
        self.update(iterable, **named)

    def __getitem__(self, key):
        return super().__getitem__(key) if key in self else 0

    def __delitem__(self, key):
        self.pop(key, None)

    def update(self, iterable=None, **named):
        self._add(iterable, 1)
        self._add(named, 1)

    def subtract(self, iterable=None, **named):
        self._add(iterable, -1)
        self._add(named, -1)

    def _add(self, iterable, sign):
        get = self.get
        if isinstance(iterable, dict):
            for key, n in iterable.items():
                self[key] = get(key, 0) + sign * n
        else:
            for key in iterable or ():
                self[key] = get(key, 0) + sign

    def most_common(self, n=None):
        ordered = sorted(self.items(), key=_count, reverse=True)
        return ordered if n is None else ordered[:n]

    def elements(self):
        for key, n in self.items():
            for _ in range(n):
                yield key

    def total(self):
        return sum(self.values())

    def copy(self):
        return Counter(self)

    def _positive(self, pairs):
        made = Counter()
        for key, n in pairs:
            if n > 0:
                made[key] = n
        return made

    def _keys(self, other):
        return list(self) + [key for key in other if key not in self]

    def __add__(self, other):
        return self._positive([(key, self[key] + other[key]) for key in self._keys(other)])

    def __sub__(self, other):
        return self._positive([(key, self[key] - other[key]) for key in self._keys(other)])

    def __or__(self, other):
        return self._positive([(key, max(self[key], other[key])) for key in self._keys(other)])

    def __and__(self, other):
        return self._positive([(key, min(self[key], other[key])) for key in self])

    def __repr__(self):
        if not self:
            return "Counter()"
        return "Counter({" + ", ".join([repr(key) + ": " + repr(n) for key, n in self.most_common()]) + "})"

    __str__ = __repr__


def _count(pair):
    return pair[1]


class UserDict(dict):
    @property
    def data(self):
        return self


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for m in self.maps:
            if key in m:
                return m[key]
        raise KeyError(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any([key in m for m in self.maps])

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        if key not in self.maps[0]:
            raise KeyError("Key not found in the first mapping: " + repr(key))
        del self.maps[0][key]

    def _merged(self):
        merged = {}
        for m in self.maps[::-1]:
            merged.update(m)
        return merged

    def __iter__(self):
        return iter(self._merged())

    def __len__(self):
        return len(self._merged())

    def keys(self):
        return self._merged().keys()

    def values(self):
        return [self[key] for key in self]

    def items(self):
        return [(key, self[key]) for key in self]

    def new_child(self, m=None, **named):
        m = {} if m is None else m
        m.update(named)
        return ChainMap(*([m] + self.maps))

    @property
    def parents(self):
        return ChainMap(*self.maps[1:])

    def __repr__(self):
        return "ChainMap(" + ", ".join([repr(m) for m in self.maps]) + ")"
