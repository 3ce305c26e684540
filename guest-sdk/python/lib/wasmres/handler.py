"""How functions of a provider are called."""

from _wasmres_functions import about, parameters

from .failure import Invalid
from .request import whole_number

_REQUEST = ("request", "ctx", "context")
_REQUEST_TYPES = ("Request", "Context")


def description_of(function):
    """The docstring of a function, in which lines are joined as in a paragraph; None without one."""
    doc = about(function)[0]
    if doc is None:
        return None
    lines = [line.strip() for line in doc.strip().split("\n")]
    return "\n\n".join([p.replace("\n", " ") for p in "\n".join(lines).split("\n\n")])


class Handler:
    """Calls a function with the parameters it has: variables of the template by their names, converted to what their
    annotations say, and the request."""

    def __init__(self, function, variables, where):
        if not callable(function):
            raise TypeError(where + ": the handler is no function")
        self.function = function
        self.names = []  # of variables, each with the conversion of its text or None
        kinds = []  # of them, the names of types
        self.request = None  # the name of the parameter for it
        self.wants_page = False
        known = parameters(function)
        names, rest = known if known else ((), False)
        annotations = about(function)[1]
        for name in names:
            kind = annotations.get(name)
            if name in variables:
                self.names.append((name, _CONVERSIONS.get(kind)))
                kinds.append(kind if kind in _CONVERSIONS else None)
            elif name in _REQUEST or kind in _REQUEST_TYPES:
                self.request = name
            elif name == "page":
                self.wants_page = True
        if rest or not known:
            self.names += [(name, None) for name in variables if name not in names]
        missing = [name for name in variables if name not in names]
        if missing and not rest and self.request is None and known:
            raise TypeError(where + ": the function has no parameter " + missing[0] + ", and none for the request")
        kinds += [None] * (len(self.names) - len(kinds))
        self.quick = None  # names of variables, of their types, and of the parameter for the request, if that is all there is
        if not self.wants_page:
            self.quick = tuple([name for name, _ in self.names]), tuple(kinds), self.request

    def call(self, request, page=None):
        named = {"page": page} if self.wants_page else {}
        for name, convert in self.names:
            value = request.vars.get(name)
            if value is None:
                continue
            named[name] = convert(name, value) if convert else value
        if self.request:
            named[self.request] = request
        return settled(self.function(**named))


def settled(answer):
    """What a coroutine returns, or the answer itself. Nothing that a handler awaits takes time."""
    if not hasattr(answer, "send") or not hasattr(answer, "throw"):
        return answer
    try:
        first = answer.send(None)
    except StopIteration as end:
        return end.value
    return resumed(first, answer)  # it is a generator


def resumed(first, stream):
    """A generator of a value and those that a stream gives then."""
    yield first
    yield from stream


def _float(name, text):
    try:
        return float(text)
    except ValueError:
        raise Invalid(name + " is not a number")


def _bool(name, text):
    if text in ("true", "1", "yes", "on"):
        return True
    if text in ("false", "0", "no", "off"):
        return False
    raise Invalid(name + " is neither true nor false")


_CONVERSIONS = {"int": whole_number, "float": _float, "bool": _bool}  # by names of annotations
