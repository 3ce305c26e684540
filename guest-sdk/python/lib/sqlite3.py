"""Databases that the operator has granted, by the names of sqlite3. connect takes the name of a grant; of the path of a file
it takes the file's name without its ending. Statements are sent as they are, and each is a transaction of its own, that
only reads unless the grant says otherwise."""

from _sql_parameters import positional
from wasmres import abi
from wasmres.failure import Failure
from wasmres.sql import asked

apilevel, threadsafety, paramstyle = "2.0", 1, "qmark"
sqlite_version, sqlite_version_info = "3", (3, 0, 0)
PARSE_DECLTYPES, PARSE_COLNAMES = 1, 2


class Warning(Exception):
    pass


class Error(Exception):
    """failure is what the client is told of an error that the provider does not catch."""

    failure = None


class InterfaceError(Error):
    pass


class DatabaseError(Error):
    pass


class DataError(DatabaseError):
    pass


class OperationalError(DatabaseError):
    pass


class IntegrityError(DatabaseError):
    pass


class InternalError(DatabaseError):
    pass


class ProgrammingError(DatabaseError):
    pass


class NotSupportedError(DatabaseError):
    pass


class Row:
    """A row by numbers and by names of columns."""

    def __init__(self, cursor, values):
        self._names = [d[0] for d in cursor.description]
        self._values = tuple(values)

    def keys(self):
        return list(self._names)

    def __getitem__(self, key):
        if not isinstance(key, str):
            return self._values[key]
        if key in self._names:
            return self._values[self._names.index(key)]
        for i, name in enumerate(self._names):
            if name.lower() == key.lower():
                return self._values[i]
        raise IndexError("No item with that key")

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __eq__(self, other):
        return isinstance(other, Row) and self._names == other._names and self._values == other._values

    def __hash__(self):
        return hash(self._values)

    def __repr__(self):
        return "<sqlite3.Row " + repr(dict(zip(self._names, self._values))) + ">"


class Cursor:
    arraysize = 1
    rowcount = -1
    lastrowid = None

    def __init__(self, connection):
        self.connection = connection
        self.row_factory = connection.row_factory
        self.description = None
        self._rows = iter(())

    def execute(self, sql, parameters=()):
        self.connection._check()
        found = _asked(self.connection, sql, parameters)
        self.description = tuple([(name,) + (None,) * 6 for name, _ in found.columns]) or None
        self._rows = found.values()
        return self

    def executemany(self, sql, seq_of_parameters):
        for parameters in seq_of_parameters:
            self.execute(sql, parameters)
        return self

    def executescript(self, sql_script):
        for statement in sql_script.split(";"):
            if statement.strip():
                self.execute(statement)
        return self

    def fetchone(self):
        values = self._next()
        return None if values is None else self._made(values)

    def _next(self):
        try:
            return next(self._rows, None)
        except Failure as failure:
            raised = _error_of(failure)
        raise raised

    def _made(self, values):
        values = tuple(values)
        return self.row_factory(self, values) if self.row_factory else values

    def fetchmany(self, size=None):
        rows = []
        for _ in range(self.arraysize if size is None else size):
            row = self.fetchone()
            if row is None:
                break
            rows.append(row)
        return rows

    def fetchall(self):
        return list(self)

    def __iter__(self):
        return self

    def __next__(self):
        values = self._next()
        if values is None:
            raise StopIteration
        return self._made(values)

    def close(self):
        self._rows = iter(())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _asked(connection, sql, parameters):
    try:
        if isinstance(parameters, dict):
            sql, parameters = positional(sql, parameters)
    except KeyError as missing:
        raise ProgrammingError("You did not supply a value for binding parameter :" + missing.args[0] + ".")
    try:
        return asked(connection._name, sql, tuple(parameters))
    except Failure as failure:
        raised = _error_of(failure)
    raise raised


def _error_of(failure):
    raised = OperationalError(failure.message)
    raised.failure = failure
    return raised


class Connection:
    row_factory = None
    isolation_level = ""
    in_transaction = False
    total_changes = 0
    text_factory = str

    def __init__(self, name):
        self._name = name
        self._closed = False

    def _check(self):
        if self._closed:
            raise ProgrammingError("Cannot operate on a closed database.")

    def cursor(self, factory=Cursor):
        self._check()
        return factory(self)

    def execute(self, sql, parameters=()):
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql, seq_of_parameters):
        return self.cursor().executemany(sql, seq_of_parameters)

    def executescript(self, sql_script):
        return self.cursor().executescript(sql_script)

    def commit(self):
        """Does nothing: each statement is a transaction of its own."""

    def rollback(self):
        """Does nothing, as commit."""

    def close(self):
        self._closed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def connect(database, *_, **__):
    name = database if isinstance(database, str) else database.__fspath__()
    if name.startswith("file:"):
        name = name[5:].partition("?")[0]
    if name in ("", ":memory:"):
        raise NotSupportedError("there is no database in memory: connect to one that the operator grants with --sql NAME=DSN")
    name = name.rsplit("/", 1)[-1]
    stem, dot, ending = name.rpartition(".")
    return Connection(stem if dot and ending in ("db", "db3", "sqlite", "sqlite3") and stem else name)


def register_adapter(kind, adapter):
    raise NotSupportedError("values are adapted before they are parameters: pass str, bytes, int, float, bool or None")


register_converter = register_adapter
