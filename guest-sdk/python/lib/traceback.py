"""Tracebacks as text."""

import sys
from io import StringIO


def format_exception(exc, value=None, tb=None, limit=None, chain=True):
    error = exc if value is None else value
    out = StringIO()
    sys.print_exception(error, out)
    return out.getvalue().splitlines(True)


def format_exception_only(exc, value=None):
    error = exc if value is None else value
    text = str(error)
    return [type(error).__name__ + (": " + text if text else "") + "\n"]


def format_exc(limit=None, chain=True):
    error = sys.exc_info()[1]
    return "NoneType: None\n" if error is None else "".join(format_exception(error))


def print_exc(limit=None, file=None, chain=True):
    print(format_exc(), end="", file=file)


def print_exception(exc, value=None, tb=None, limit=None, file=None, chain=True):
    print("".join(format_exception(exc, value)), end="", file=file)


def format_tb(tb, limit=None):
    return []


extract_tb = format_tb
format_stack = extract_stack = lambda *_: []
