"""Classes that are mostly data. Their fields are the annotated names of the class, in order."""

MISSING = type("_Missing", (), {"__repr__": lambda self: "MISSING"})()
KW_ONLY = type("_KwOnly", (), {})()


class FrozenInstanceError(AttributeError):
    pass


class InitVar:
    @classmethod
    def __class_getitem__(cls, _):
        return cls


class Field:
    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = self.type = None
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.hash, self.compare = init, repr, hash, compare
        self.metadata, self.kw_only = metadata or {}, kw_only

    def __repr__(self):
        return "Field(name=" + repr(self.name) + ",type=" + repr(self.type) + ",default=" + repr(self.default) + ")"


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None,
          kw_only=MISSING):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def dataclass(cls=None, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, match_args=True,
              kw_only=False, slots=False, weakref_slot=False):
    def decorate(cls):
        return _processed(cls, init, repr, eq, order, unsafe_hash, frozen, kw_only)

    return decorate if cls is None else decorate(cls)


def _processed(cls, init, repr, eq, order, unsafe_hash, frozen, kw_only):
    found, given = {}, []
    for base in cls.__bases__:
        found.update(getattr(base, "__dataclass_fields__", None) or {})
    for name, kind in (cls.__dict__.get("__annotations__") or {}).items():
        if kind == "KW_ONLY":
            kw_only = True
            continue
        if kind == "ClassVar":
            continue
        made = _field_of(cls, name, kind, kw_only)
        made.init_only = kind == "InitVar"
        found[name] = made
    cls.__dataclass_fields__ = found
    cls.__dataclass_params__ = {"frozen": frozen, "eq": eq, "order": order}
    cls.__match_args__ = tuple([f.name for f in found.values() if f.init and not f.kw_only])
    _check_order(found)
    own = cls.__dict__
    if init and "__init__" not in own:
        cls.__init__ = _init_of(cls.__name__, found, hasattr(cls, "__post_init__"), frozen)
    if repr and "__repr__" not in own:
        cls.__repr__ = _repr
    if eq and "__eq__" not in own:
        cls.__eq__ = _eq
        if (frozen or unsafe_hash) and "__hash__" not in own:
            cls.__hash__ = _hash
    elif unsafe_hash:
        cls.__hash__ = _hash
    if order:
        if not eq:
            raise ValueError("eq must be true if order is true")
        cls.__lt__, cls.__le__, cls.__gt__, cls.__ge__ = _lt, _le, _gt, _ge
    if frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_set, _refuse_delete
    return cls


def _field_of(cls, name, kind, kw_only):
    default = cls.__dict__.get(name, MISSING)
    if isinstance(default, Field):
        made = default
        if made.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, made.default)
    else:
        made = field(default=default)
    if isinstance(made.default, (list, dict, set)):
        raise ValueError("mutable default " + repr_of(type(made.default)) + " for field " + name
                         + " is not allowed: use default_factory")
    made.name, made.type = name, kind
    if made.kw_only is MISSING:
        made.kw_only = kw_only
    return made


def repr_of(value):
    return repr(value)


def _check_order(fields):
    optional = None
    for f in fields.values():
        if not f.init or f.kw_only:
            continue
        if f.default is not MISSING or f.default_factory is not MISSING:
            optional = f.name
        elif optional:
            raise TypeError("non-default argument '" + f.name + "' follows default argument")


def _init_of(name, fields, post, frozen):
    every = list(fields.values())
    names = [f.name for f in every if f.init and not f.kw_only]
    known = {f.name for f in every if f.init}
    put = object.__setattr__ if frozen else setattr

    def __init__(self, *args, **named):
        if len(args) > len(names):
            raise TypeError(_too_many(name, every, names, len(args)))
        values = dict(zip(names, args))
        for key, value in named.items():
            if key in values:
                raise TypeError(name + ".__init__() got multiple values for argument '" + key + "'")
            if key not in known:
                raise TypeError(name + ".__init__() got an unexpected keyword argument '" + key + "'")
            values[key] = value
        missing = [repr(f.name) for f in every if f.init and f.name not in values and not _has_default(f)]
        if missing:
            raise TypeError(_missing_text(name, missing))
        extra = []
        for f in every:
            if f.name in values:
                value = values[f.name]
            elif f.default_factory is not MISSING:
                value = f.default_factory()
            elif f.default is not MISSING:
                value = f.default
            else:
                continue
            if f.init_only:
                extra.append(value)
            else:
                put(self, f.name, value)
        if post:
            self.__post_init__(*extra)

    return __init__


def _too_many(name, every, names, given):
    needed = len([f for f in every if f.name in names and not _has_default(f)])
    most = "" if needed == len(names) else "from " + str(needed + 1) + " to "
    return "%s.__init__() takes %s%d positional argument%s but %d were given" % (
        name, most, len(names) + 1, "" if len(names) == 0 else "s", given + 1)


def _has_default(f):
    return f.default is not MISSING or f.default_factory is not MISSING


def _missing_text(name, missing):
    if len(missing) > 1:
        missing = [", ".join(missing[:-1]) + (", and " if len(missing) > 2 else " and ") + missing[-1]] + missing[1:]
    return "%s.__init__() missing %d required positional argument%s: %s" % (
        name, len(missing), "s" if len(missing) > 1 else "", missing[0])


def _values(self):
    return tuple([getattr(self, f.name) for f in fields(self) if f.compare])


def _repr(self):
    shown = [f.name + "=" + repr(getattr(self, f.name)) for f in fields(self) if f.repr]
    return type(self).__name__ + "(" + ", ".join(shown) + ")"


def _eq(self, other):
    return type(self) is type(other) and _values(self) == _values(other)


def _hash(self):
    return hash(tuple([getattr(self, f.name) for f in fields(self) if (f.compare if f.hash is None else f.hash)]))


def _lt(self, other):
    return _values(self) < _values(other)


def _le(self, other):
    return _values(self) <= _values(other)


def _gt(self, other):
    return _values(self) > _values(other)


def _ge(self, other):
    return _values(self) >= _values(other)


def _refuse_set(self, name, value):
    raise FrozenInstanceError("cannot assign to field " + repr(name))


def _refuse_delete(self, name):
    raise FrozenInstanceError("cannot delete field " + repr(name))


def fields(class_or_instance):
    found = getattr(class_or_instance, "__dataclass_fields__", None)
    if found is None:
        raise TypeError("must be called with a dataclass type or instance")
    return tuple([f for f in found.values() if not f.init_only])


def is_dataclass(obj):
    return hasattr(obj, "__dataclass_fields__")


def asdict(obj, *, dict_factory=dict):
    if not is_dataclass(obj) or isinstance(obj, type):
        raise TypeError("asdict() should be called on dataclass instances")
    return dict_factory([(f.name, _plain(getattr(obj, f.name), lambda o: asdict(o, dict_factory=dict_factory)))
                         for f in fields(obj)])


def astuple(obj, *, tuple_factory=tuple):
    if not is_dataclass(obj) or isinstance(obj, type):
        raise TypeError("astuple() should be called on dataclass instances")
    return tuple_factory([_plain(getattr(obj, f.name), lambda o: astuple(o, tuple_factory=tuple_factory))
                          for f in fields(obj)])


def _plain(value, convert):
    if is_dataclass(value) and not isinstance(value, type):
        return convert(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_plain(v, convert) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_plain(v, convert) for v in value])
    if isinstance(value, dict):
        return {_plain(k, convert): _plain(v, convert) for k, v in value.items()}
    return value


def replace(obj, **changes):
    for f in fields(obj):
        if not f.init:
            if f.name in changes:
                raise ValueError("field " + f.name + " is declared with init=False, it cannot be specified with replace()")
        elif f.name not in changes:
            changes[f.name] = getattr(obj, f.name)
    return type(obj)(**changes)


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    members, annotations = dict(namespace or {}), {}
    for item in fields:
        name, kind, default = (item, "Any", MISSING) if isinstance(item, str) else (tuple(item) + (MISSING,))[:3]
        annotations[name] = kind if isinstance(kind, str) else getattr(kind, "__name__", "Any")
        if default is not MISSING:
            members[name] = default
    members["__annotations__"] = annotations
    return dataclass(type(cls_name, tuple(bases), members), **options)
