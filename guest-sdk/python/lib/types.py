"""Kinds of objects of the interpreter."""


FunctionType = LambdaType = type(lambda: None)
BuiltinFunctionType = BuiltinMethodType = type(len)
GeneratorType = CoroutineType = AsyncGeneratorType = type((lambda: (yield))())
NoneType, EllipsisType, NotImplementedType = type(None), type(...), type(NotImplemented)


class _Example:
    def method(self):
        pass


MethodType = type(_Example().method)


class SimpleNamespace:
    def __init__(self, mapping=None, **named):
        for name, value in dict(mapping or {}).items():
            setattr(self, name, value)
        for name, value in named.items():
            setattr(self, name, value)

    def __repr__(self):
        return "namespace(" + ", ".join([name + "=" + repr(value) for name, value in self.__dict__.items()]) + ")"

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


def MappingProxyType(mapping):
    return _Proxy(mapping)


class _Proxy:
    """A mapping that is only read."""

    def __init__(self, mapping):
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def get(self, key, default=None):
        return self._mapping.get(key, default)

    def keys(self):
        return self._mapping.keys()

    def values(self):
        return self._mapping.values()

    def items(self):
        return self._mapping.items()

    def copy(self):
        return self._mapping.copy()

    def __eq__(self, other):
        return self._mapping == (other._mapping if isinstance(other, _Proxy) else other)

    def __repr__(self):
        return "mappingproxy(" + repr(self._mapping) + ")"


def coroutine(function):
    return function
