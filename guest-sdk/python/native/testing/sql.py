"""Databases of SQLite."""

import os
import pathlib
import sqlite3

from .. import abi


class Databases:
    def __init__(self, connections):
        self._connections = {name: self._opened(given) for name, given in connections.items()}

    @staticmethod
    def _opened(given):
        if isinstance(given, sqlite3.Connection):
            return given
        return sqlite3.connect(pathlib.Path(given).resolve().as_uri() + "?mode=ro", uri=True)

    def named(self, name):
        """A connection by its name, or by a path that ends with it, for sqlite3.connect; None without one."""
        stem = os.path.splitext(os.path.basename(name))[0] if isinstance(name, (str, os.PathLike)) else None
        given = self._connections.get(stem)
        return None if given is None else _Shared(given)

    def query(self, connection, statement, args, most):
        if connection not in self._connections:
            return abi.CODE_DENIED
        try:
            cursor = self._connections[connection].execute(statement, tuple(args or ()))
            rows = cursor.fetchmany(most) if most else cursor.fetchall()
        except sqlite3.Error:
            return abi.CODE_INVALID_PARAMS
        columns = [(column[0], None) for column in cursor.description or ()]
        return columns, [(list(row),) for row in rows], None


class _Shared:
    """A connection that is the Client's, so that a provider cannot close it."""

    def __init__(self, connection):
        object.__setattr__(self, "_connection", connection)

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def __setattr__(self, name, value):
        setattr(self._connection, name, value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def close(self):
        pass
