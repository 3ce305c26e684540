"""sqlite3 with methods to await. Each has ended when it returns."""

import sqlite3
from sqlite3 import DatabaseError, Error, IntegrityError, OperationalError, ProgrammingError, Row


class _Later:
    """What is done when it is awaited or entered."""

    def __init__(self, act):
        self._act = act
        self._made = None

    def __await__(self):
        return self._act()
        yield

    __iter__ = __await__  # of an awaited object in MicroPython

    async def __aenter__(self):
        self._made = self._act()
        return self._made

    async def __aexit__(self, *_):
        await self._made.close()


class Cursor:
    def __init__(self, cursor):
        self._cursor = cursor

    description = property(lambda self: self._cursor.description)
    rowcount = lastrowid = property(lambda self: self._cursor.lastrowid)

    async def execute(self, sql, parameters=()):
        self._cursor.execute(sql, parameters)
        return self

    async def fetchone(self):
        return self._cursor.fetchone()

    async def fetchmany(self, size=None):
        return self._cursor.fetchmany(size)

    async def fetchall(self):
        return self._cursor.fetchall()

    async def close(self):
        self._cursor.close()

    def __aiter__(self):
        return self

    async def __anext__(self):
        row = self._cursor.fetchone()
        if row is None:
            raise StopAsyncIteration
        return row


class Connection:
    def __init__(self, connection):
        self._connection = connection

    @property
    def row_factory(self):
        return self._connection.row_factory

    @row_factory.setter
    def row_factory(self, factory):
        self._connection.row_factory = factory

    def cursor(self):
        return _Later(lambda: Cursor(self._connection.cursor()))

    def execute(self, sql, parameters=()):
        return _Later(lambda: Cursor(self._connection.execute(sql, parameters)))

    def executemany(self, sql, parameters):
        return _Later(lambda: Cursor(self._connection.executemany(sql, parameters)))

    def executescript(self, script):
        return _Later(lambda: Cursor(self._connection.executescript(script)))

    async def execute_fetchall(self, sql, parameters=()):
        return self._connection.execute(sql, parameters).fetchall()

    async def commit(self):
        pass

    async def rollback(self):
        pass

    async def close(self):
        self._connection.close()


def connect(database, **_):
    return _Later(lambda: Connection(sqlite3.connect(database)))
