"""Functions of functions."""

WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")
WRAPPER_UPDATES = ("__dict__",)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    for name in assigned:
        _set(wrapper, name, getattr(wrapped, name, None))
    _set(wrapper, "__wrapped__", wrapped)
    return wrapper


def _set(wrapper, name, value):
    try:
        setattr(wrapper, name, value)
    except (AttributeError, TypeError):
        pass  # a function has no such attribute here


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    return lambda wrapper: update_wrapper(wrapper, wrapped, assigned, updated)


class partial:
    def __init__(self, func, *args, **keywords):
        if not callable(func):
            raise TypeError("the first argument must be callable")
        self.func, self.args, self.keywords = func, args, keywords

    def __call__(self, *args, **keywords):
        named = dict(self.keywords)
        named.update(keywords)
        return self.func(*(self.args + args), **named)

    def __repr__(self):
        parts = [repr(self.func)] + [repr(a) for a in self.args] + [k + "=" + repr(v) for k, v in self.keywords.items()]
        return "functools.partial(" + ", ".join(parts) + ")"


class partialmethod:
    def __init__(self, func, *args, **keywords):
        self._made = func, args, keywords

    def __get__(self, instance, owner):
        func, args, keywords = self._made
        return partial(func, *((instance,) + args), **keywords)


_missing = object()


def reduce(function, iterable, initial=_missing):
    items = iter(iterable)
    value = initial
    if value is _missing:
        try:
            value = next(items)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value")
    for item in items:
        value = function(value, item)
    return value


class _CacheInfo(tuple):
    hits = property(lambda self: self[0])
    misses = property(lambda self: self[1])
    maxsize = property(lambda self: self[2])
    currsize = property(lambda self: self[3])

    def __repr__(self):
        return "CacheInfo(hits=%s, misses=%s, maxsize=%s, currsize=%s)" % (self[0], self[1], self[2], self[3])


class _Cached:
    def __init__(self, function, maxsize, typed):
        self._function = self.__wrapped__ = function
        self._maxsize = maxsize
        self._typed = typed
        self.__name__ = getattr(function, "__name__", None)
        self.__doc__ = getattr(function, "__doc__", None)
        self.cache_clear()

    def __call__(self, *args, **named):
        key = (args, tuple(named.items())) if named else args
        if self._typed:
            key = (key, tuple([type(a) for a in args]))
        kept = self._kept
        if key in kept:
            self._hits += 1
            value = kept[key]
            if self._maxsize is not None:
                del kept[key]  # it becomes the newest
                kept[key] = value
            return value
        self._misses += 1
        value = self._function(*args, **named)
        if self._maxsize is not None and len(kept) >= self._maxsize:
            if self._maxsize <= 0:
                return value
            del kept[next(iter(kept))]
        kept[key] = value
        return value

    def __get__(self, instance, owner):
        return self if instance is None else partial(self, instance)

    def cache_info(self):
        return _CacheInfo((self._hits, self._misses, self._maxsize, len(self._kept)))

    def cache_clear(self):
        self._kept, self._hits, self._misses = {}, 0, 0

    def cache_parameters(self):
        return {"maxsize": self._maxsize, "typed": self._typed}


def lru_cache(maxsize=128, typed=False):
    """What it keeps lasts as long as globals do: one request, unless the provider has another lifecycle."""
    if callable(maxsize):
        return _Cached(maxsize, 128, typed)
    return lambda function: _Cached(function, maxsize, typed)


def cache(function):
    return _Cached(function, None, False)


class cached_property:
    def __init__(self, func):
        self.func = func
        self.attrname = None

    def __set_name__(self, owner, name):
        self.attrname = name

    def __get__(self, instance, owner):
        if instance is None:
            return self
        value = self.func(instance)
        setattr(instance, self.attrname, value)
        return value


class singledispatch:
    def __init__(self, function):
        self.__wrapped__ = function
        self.registry = {object: function}

    def register(self, kind, function=None):
        if function is None:
            return lambda function: self.register(kind, function)
        self.registry[kind] = function
        return function

    def dispatch(self, kind):
        found = object
        for known in self.registry:
            if known is not object and issubclass(kind, known) and (found is object or issubclass(known, found)):
                found = known
        return self.registry[found]

    def __call__(self, *args, **named):
        return self.dispatch(type(args[0]))(*args, **named)


def total_ordering(cls):
    """Fills in comparisons from one of them and __eq__."""
    has = [name for name in ("__lt__", "__le__", "__gt__", "__ge__") if hasattr(cls, name)]
    if not has:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    base = getattr(cls, has[0])
    strict = has[0] in ("__lt__", "__gt__")
    less = has[0] in ("__lt__", "__le__")

    def made(wants_less, wants_strict):
        def compare(self, other):
            same = self == other
            if strict:
                first = not same and base(self, other) if wants_less == less else not same and not base(self, other)
            else:
                first = not same and (base(self, other) if wants_less == less else not base(self, other))
            return bool(first or (same and not wants_strict))

        return compare

    for name, wants in (("__lt__", (True, True)), ("__le__", (True, False)), ("__gt__", (False, True)), ("__ge__", (False, False))):
        if name not in has:
            setattr(cls, name, made(*wants))
    return cls


def cmp_to_key(compare):
    class K:
        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return compare(self.obj, other.obj) < 0

        def __gt__(self, other):
            return compare(self.obj, other.obj) > 0

        def __eq__(self, other):
            return compare(self.obj, other.obj) == 0

    return K
