"""Grants for what the standard library opens by itself: files by open, os.listdir and pathlib, databases by sqlite3, and
os.environ."""

import builtins
import contextlib
import io
import os
import sqlite3

from ..failure import NotFound

_PATCHED = ((builtins, "open"), (io, "open"), (os, "stat"), (os, "listdir"), (os, "scandir"))


@contextlib.contextmanager
def granted(services):
    """Has these functions use the real path of a granted one and the database of a granted name, and adds the environment."""
    originals = [(module, name, getattr(module, name)) for module, name in _PATCHED]
    connect, environ = sqlite3.connect, dict(os.environ)
    for module, name, original in originals:
        setattr(module, name, _mapped(original, services.real_path))
    sqlite3.connect = lambda name, *args, **named: services.database(name) or connect(name, *args, **named)
    os.environ.update(services.env)
    try:
        yield
    finally:
        for module, name, original in originals:
            setattr(module, name, original)
        sqlite3.connect = connect
        os.environ.clear()
        os.environ.update(environ)


def _mapped(original, real_of):
    def function(path=".", *args, **named):
        real = real_of(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else None
        if real is None:
            return original(path, *args, **named)
        try:
            return original(real, *args, **named)
        except FileNotFoundError as error:
            error.filename = os.fspath(path)
            error.failure = NotFound(os.fspath(path) + ": there is no such file")  # if the provider does not catch it
            raise

    return function
