"""Querying databases that the operator granted under a name."""

from _wasmres_service import dicts

from . import abi
from .service import ask, expect

_WHY = {
    abi.CODE_INVALID_PARAMS: "the statement or its arguments make no sense",
    abi.CODE_UNAVAILABLE: "it cannot be reached, or has too much to do",
    abi.CODE_DEADLINE: "the statement has taken too long",
    abi.CODE_TOO_LARGE: "that is more than granted",
}


def query(connection, statement, *args):
    """Runs a statement that reads, in the database's own words: parameters are $1 for PostgreSQL, ? for MySQL and MariaDB,
    ?1 for SQLite."""
    return Rows(connection, statement, args, None)


def query_row(connection, statement, *args):
    """The first row, None when there is none."""
    rows = Rows(connection, statement, args, 1).dicts()
    return rows[0] if rows else None


class Database:
    """A database, by the name under which the operator granted it."""

    def __init__(self, name):
        self.name = name

    def query(self, statement, *args):
        return query(self.name, statement, *args)

    def query_row(self, statement, *args):
        return query_row(self.name, statement, *args)


class Rows:
    """Rows, to be gone over once, each a dict. Only some are in memory. As a list, with len() or an index, all are."""

    _all = None  # the rows, once they are a list

    def __init__(self, connection, statement, args, most):
        self._what = "the database " + connection
        fields = (connection, statement, args, most)
        self._columns, self._part, self._stream = ask(
            abi.SERVICE_SQL, "ssvn", "(ss)(v)n", fields, self._what, _WHY
        )

    @property
    def columns(self):
        """The name and the type of each column."""
        return [(name or "", kind or "") for name, kind in self._columns or ()]

    def dicts(self):
        """The rows that are in memory."""
        rows = dicts(self._columns, self._part)
        expect(rows is not None, self._what)
        return rows

    def values(self):
        """Yields the rows as lists, in the order of the columns."""
        width = len(self._columns or ())
        more = True
        while more:
            for (values,) in self._part or ():
                values = values or []
                expect(len(values) == width, self._what)
                yield values
            more = self._next()

    def __bool__(self):
        return bool(self._all or self._part or self._stream)

    def __len__(self):
        return len(self._list())

    def __getitem__(self, index):
        return self._list()[index]

    def _list(self):
        if self._all is None:
            self._all = list(self._each())
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
        if not self._stream:
            return False
        fields = (self._stream,)
        _, self._part, self._stream = ask(abi.SERVICE_SQL_ROWS, "n", "(ss)(v)n", fields, self._what, _WHY)
        return True
