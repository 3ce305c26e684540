"""What objects are."""

from _wasmres_functions import about, parameters


def iscoroutine(obj):
    return hasattr(obj, "send") and hasattr(obj, "throw")


isgenerator = isawaitable = iscoroutine


def iscoroutinefunction(obj):
    return type(obj) is _generated


isgeneratorfunction = isasyncgenfunction = iscoroutinefunction


def isfunction(obj):
    return parameters(obj) is not None


def ismethod(obj):
    return type(obj) is type(_Example().method)


def isroutine(obj):
    return isfunction(obj) or ismethod(obj) or isbuiltin(obj)


def isbuiltin(obj):
    return type(obj) in (type(len), type(print))


def isclass(obj):
    return isinstance(obj, type)


def ismodule(obj):
    return type(obj) is type(_sys)


def getdoc(obj):
    doc = getattr(obj, "__doc__", None)
    return None if doc is None else cleandoc(doc)


def cleandoc(doc):
    from textwrap import dedent

    first, newline, rest = doc.partition("\n")
    return (first.strip() + newline + dedent(rest)).strip()


def getmembers(obj, predicate=None):
    found = [(name, getattr(obj, name)) for name in sorted(dir(obj))]
    return [pair for pair in found if predicate is None or predicate(pair[1])]


class Parameter:
    empty = type("_empty", (), {})
    POSITIONAL_OR_KEYWORD, VAR_KEYWORD = "POSITIONAL_OR_KEYWORD", "VAR_KEYWORD"

    def __init__(self, name, kind, annotation):
        self.name, self.kind, self.annotation, self.default = name, kind, annotation, Parameter.empty


class Signature:
    """The names of a function's parameters; of their annotations only first names are known, and no defaults."""

    empty = Parameter.empty

    def __init__(self, function):
        names, rest = parameters(function)
        kinds = about(function)[1]
        self.parameters = {n: Parameter(n, Parameter.POSITIONAL_OR_KEYWORD, kinds.get(n, Parameter.empty)) for n in names}
        if rest:
            self.parameters["kwargs"] = Parameter("kwargs", Parameter.VAR_KEYWORD, Parameter.empty)
        self.return_annotation = Parameter.empty


def signature(obj, **_):
    function = obj if isfunction(obj) else getattr(obj, "__call__", None)
    if not isfunction(function):
        raise TypeError(repr(obj) + " is not a Python function")
    return Signature(function)


def _generator():
    yield


_generated = type(_generator)


class _Example:
    def method(self):
        pass


import sys as _sys
