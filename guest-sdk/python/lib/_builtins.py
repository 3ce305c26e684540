"""Builtins that the interpreter lacks. The package wasmres imports this first, so that all files of a provider have
them."""

import builtins

import _methods


class _OSError(OSError):
    """An OSError with what CPython's has beside the number. failure, if it is set, is what a client is told of one that
    the provider does not catch."""

    failure = None

    @property
    def strerror(self):
        return self.args[1] if len(self.args) > 1 else None

    @property
    def filename(self):
        return self.args[2] if len(self.args) > 2 else None

    def __str__(self):
        args = self.args
        if len(args) < 2:
            return str(args[0]) if args else ""
        text = "[Errno " + str(args[0]) + "] " + str(args[1])
        return text + ": " + repr(args[2]) if len(args) > 2 else text

    def __repr__(self):
        return type(self).__name__ + "(" + ", ".join([repr(a) for a in self.args[:2]]) + ")"


class BlockingIOError(_OSError):
    pass


class ChildProcessError(_OSError):
    pass


class ConnectionError(_OSError):
    pass


class BrokenPipeError(ConnectionError):
    pass


class ConnectionAbortedError(ConnectionError):
    pass


class ConnectionRefusedError(ConnectionError):
    pass


class ConnectionResetError(ConnectionError):
    pass


class FileExistsError(_OSError):
    pass


class FileNotFoundError(_OSError):
    pass


class InterruptedError(_OSError):
    pass


class IsADirectoryError(_OSError):
    pass


class NotADirectoryError(_OSError):
    pass


class PermissionError(_OSError):
    pass


class ProcessLookupError(_OSError):
    pass


class TimeoutError(_OSError):
    pass


class FloatingPointError(ArithmeticError):
    pass


class BufferError(Exception):
    pass


class ReferenceError(Exception):
    pass


class SystemError(Exception):
    pass


class Warning(Exception):
    pass


class BytesWarning(Warning):
    pass


class DeprecationWarning(Warning):
    pass


class EncodingWarning(Warning):
    pass


class FutureWarning(Warning):
    pass


class ImportWarning(Warning):
    pass


class PendingDeprecationWarning(Warning):
    pass


class ResourceWarning(Warning):
    pass


class RuntimeWarning(Warning):
    pass


class SyntaxWarning(Warning):
    pass


class UnicodeWarning(Warning):
    pass


class UserWarning(Warning):
    pass


# What the interpreter raises in place of them.
EnvironmentError = IOError = OSError
ModuleNotFoundError = ImportError

UnicodeDecodeError = UnicodeEncodeError = UnicodeTranslateError = UnicodeError


def format(value, spec=""):
    return ("{:" + spec + "}").format(value)


def ascii(value):
    text = repr(value)
    if len(text) == len(text.encode()):
        return text
    return "".join([c if ord(c) < 128 else _escaped(ord(c)) for c in text])


def _escaped(code):
    if code < 0x100:
        return "\\x%02x" % code
    return "\\u%04x" % code if code < 0x10000 else "\\U%08x" % code


_print, _sum, _zip, _iter, _round = builtins.print, builtins.sum, builtins.zip, builtins.iter, builtins.round


def print(*values, sep=" ", end="\n", file=None, flush=False):
    """Writes to the log, or to a file."""
    sep = " " if sep is None else sep
    end = "\n" if end is None else end
    if file is None:
        _print(*values, sep=sep, end=end)
    else:
        file.write(sep.join([str(v) for v in values]) + end)


def sum(iterable, start=0):
    return _sum(iterable, start)


def zip(*iterables, strict=False):
    return _strictly(iterables) if strict else _zip(*iterables)


def _strictly(iterables):
    iterators = [_iter(i) for i in iterables]
    while True:
        row = [next(i, _end) for i in iterators]
        missing = [i for i in range(len(row)) if row[i] is _end]
        if missing and len(missing) == len(row):
            return
        if missing:
            first = missing[0] if missing[0] else [i for i in range(len(row)) if row[i] is not _end][0]
            length = "shorter" if missing[0] else "longer"
            before = "argument 1" if first == 1 else "arguments 1-" + str(first)
            raise ValueError("zip() argument " + str(first + 1) + " is " + length + " than " + before)
        yield tuple(row)


_end = object()


def iter(value, sentinel=_end):
    return _iter(value) if sentinel is _end else _until(value, sentinel)


def _until(function, sentinel):
    while True:
        value = function()
        if value == sentinel:
            return
        yield value


def round(number, ndigits=None):
    """The interpreter's, but with digits the nearest number that has so many."""
    if ndigits is None:
        return _round(number)
    if isinstance(number, float) and 0 <= ndigits < 17 and -1e15 < number < 1e15:
        return float(("%." + str(ndigits) + "f") % number)
    return _round(number, ndigits)


def vars(value):
    return value.__dict__


def aiter(value):
    return value.__aiter__()


def anext(iterator):
    return iterator.__anext__()


def input(prompt=""):
    raise EOFError("a provider has no input")


for _name, _value in list(globals().items()):
    if _name in ("iter", "print", "round", "sum", "zip") or (_name[0] != "_" and _name != "builtins" and not hasattr(builtins, _name)):
        setattr(builtins, _name, _value)
