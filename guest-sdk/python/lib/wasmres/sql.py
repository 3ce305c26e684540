"""Querying databases that the operator granted under a name."""

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
    for row in Rows(connection, statement, args, 1):
        return row
    return None


class Rows:
    """Rows, to be gone over once, each a dict. Only some are in memory."""

    def __init__(self, connection, statement, args, most):
        self._what = "the database " + connection
        fields = (connection, statement, args, most)
        columns, self._part, self._stream = ask(abi.SERVICE_SQL, "ssvn", "(ss)(v)n", fields, self._what, _WHY)
        self.columns = [(name or "", kind or "") for name, kind in columns or ()]

    def values(self):
        """Yields the rows as lists, in the order of the columns."""
        while True:
            for (values,) in self._part or ():
                values = values or []
                expect(len(values) == len(self.columns), self._what)
                yield values
            if not self._stream:
                return
            _, self._part, self._stream = ask(
                abi.SERVICE_SQL_ROWS, "n", "(ss)(v)n", (self._stream,), self._what, _WHY
            )

    def __iter__(self):
        names = [name for name, _ in self.columns]
        for values in self.values():
            yield dict(zip(names, values))
