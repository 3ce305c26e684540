"""Names for annotations, which are not evaluated, and for aliases."""

TYPE_CHECKING = False


class _Form:
    """Stands for any form: it takes parameters in brackets, unions, and is called as TypeVar is."""

    def __getitem__(self, _):
        return self

    def __call__(self, *_, **__):
        return self

    def __or__(self, _):
        return self

    __ror__ = __or__

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        return self  # args and kwargs of a ParamSpec

    def __repr__(self):
        return "typing.Any"


_form = _Form()


def __getattr__(name):
    if name[:1] == "_" or not ("A" <= name[:1] <= "Z"):
        raise AttributeError("module 'typing' has no attribute '" + name + "'")
    return _form


class Protocol:
    @classmethod
    def __class_getitem__(cls, _):
        return cls


class Generic:
    @classmethod
    def __class_getitem__(cls, _):
        return cls


class SupportsIndex(Protocol):
    pass


class SupportsInt(Protocol):
    pass


class SupportsFloat(Protocol):
    pass


class _TypedDict:
    """The base of a class statement, and a function, that give dict."""

    def __new__(cls, *statement, **_):
        return dict if statement else object.__new__(cls)

    def __call__(self, typename, fields=(), **_):
        return dict


TypedDict = _TypedDict()


class _NamedTuple:
    """The base of a class statement that makes a tuple with names, and a function that makes one."""

    def __new__(cls, *statement):
        if not statement:
            return object.__new__(cls)
        from collections.sequence import made

        name, _, members = statement
        fields = list(members.get("__annotations__") or {})
        defaults = {field: members.pop(field) for field in fields if field in members}
        return made(name, fields, defaults, members)

    def __call__(self, typename, fields=(), **named):
        from collections import namedtuple

        return namedtuple(typename, [name for name, _ in fields] + list(named))


NamedTuple = _NamedTuple()


def NewType(name, tp):
    return lambda value: value


def cast(typ, val):
    return val


def overload(func):
    return func


final = override = no_type_check = runtime_checkable = overload


def dataclass_transform(**_):
    return overload


def get_type_hints(obj, *_, **__):
    return dict(getattr(obj, "__annotations__", None) or {})


def get_origin(tp):
    return None


def get_args(tp):
    return ()


def assert_type(val, typ):
    return val


def reveal_type(obj):
    return obj


def assert_never(arg):
    raise AssertionError("Expected code to be unreachable, but got: " + repr(arg))
