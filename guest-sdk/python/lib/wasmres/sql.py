"""Querying databases that the operator granted under a name."""

import _wasmres_sql as sql
from _wasmres_sql import Database  # of the name under which the operator granted it

from . import abi
from .service import fail

_WHY = {
    abi.CODE_INVALID_PARAMS: "the statement or its arguments make no sense",
    abi.CODE_UNAVAILABLE: "it cannot be reached, or has too much to do",
    abi.CODE_DEADLINE: "the statement has taken too long",
    abi.CODE_TOO_LARGE: "that is more than granted",
}


def query(connection, statement, *args):
    """Runs a statement that reads, in the database's own words: parameters are $1 for PostgreSQL, ? for MySQL and MariaDB,
    ?1 for SQLite."""
    return Database(connection).query(statement, *args)


def query_row(connection, statement, *args):
    """The first row, None when there is none."""
    return sql.row(connection, statement, args)


def _fail(code, connection):
    fail(code, "the database " + connection, _WHY)


def asked(connection, statement, args):
    """Rows that are made as they are gone over."""
    return Rows(connection, sql.ask(connection, statement, args, None))


class Rows:
    """Rows, to be gone over once, each a dict. Only some are in memory. As a list, with len() or an index, all are."""

    _all = None  # the rows, once they are a list

    def __init__(self, connection, first):
        self._connection = connection
        self._first = self._part = first  # the encoded answer

    @property
    def columns(self):
        """The name and the type of each column."""
        columns = sql.columns(self._connection, self._first) or ()
        return [(name or "", kind or "") for name, kind in columns]

    def dicts(self):
        """The rows that are in memory."""
        return sql.dicts(self._connection, self._first, self._part)

    def values(self):
        """Yields the rows as lists, in the order of the columns."""
        more = True
        while more:
            yield from sql.lists(self._connection, self._first, self._part)
            more = self._next()

    def __bool__(self):
        if self._all is None:
            if sql.stream(self._part):
                return True
            self._all = self.dicts()  # all there are
        return self._all != []

    def __len__(self):
        return len(self._list())

    def __getitem__(self, index):
        return (self._all or self._list())[index]

    def _list(self):
        if self._all is None:
            rows = sql.dicts(self._connection, self._first, self._part)
            while sql.stream(self._part) and self._next():
                rows += self.dicts()
            self._all = rows
        return self._all

    def __iter__(self):
        return self._each() if self._all is None else iter(self._all)

    def _each(self):
        more = True
        while more:
            yield from self.dicts()
            more = self._next()

    def _next(self):
        """Asks for more rows; False when there are none."""
        stream = sql.stream(self._part)
        if stream:
            self._part = sql.more(self._connection, stream)
        return stream != 0


sql.begin(_fail, Rows)
