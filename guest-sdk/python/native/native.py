"""What the engine gives the SDK, for CPython: native tests run the very files that a module has. wasmres.testing is the host
then; it sets call while an operation runs."""

import asyncio
import builtins
import importlib.util
import inspect
import json
import os
import sys
import threading
import time
import traceback
import types

call = None  # the operation that runs: see testing/operation.py
operations = None  # function (operation, fields): the code, by serve

_DENIED, _INTERNAL = 3, 9
_LEVELS = ("debug", "info", "warn", "error")


class _Frame:
    """The fields of a reply that are collected: pairs of number and value, in which a message is a list."""

    def __init__(self):
        self.ended = 0
        self.drop()

    def stop(self, signal):
        self.ended = signal

    def stopped(self):
        return self.ended

    def drop(self):
        self.fields, self.size = [], 0
        self._open = [self.fields]

    def begin(self, number):
        inner = []
        self._put(number, inner)
        self._open.append(inner)

    def end(self):
        self._open.pop()
        return self.size

    def text(self, number, value):
        if value is not None and not isinstance(value, str):
            raise TypeError("a str is needed, not " + type(value).__name__)
        if value:
            self._put(number, value)

    def element(self, number, value):
        self._put(number, value if isinstance(value, str) else bytes(memoryview(value)))

    def number(self, number, value):
        if value is not None and float(value) >= 1:
            self._put(number, int(value))

    def double(self, number, value):
        self._put(number, float(value))

    def emit(self):
        fields = self.fields
        self.drop()
        return call.emit(fields) if fields else 0

    def body(self, data):
        return call.body(data if isinstance(data, str) else bytes(memoryview(data)))

    def end_body(self):
        return 0

    def _put(self, number, value):
        self._open[-1].append((number, value))
        self.size += 8 + (len(value) if isinstance(value, (str, bytes)) else 0)


class _Request:
    """The request of the operation that runs, and what is kept for it."""

    @staticmethod
    def fields():
        return call.asked if call else {}

    @staticmethod
    def context(*kept):
        if call and kept:
            (call.context,) = kept
        return call.context if call else None


class _Service:
    """What is asked of the host. Without an operation nothing is granted, as when a provider is built."""

    @staticmethod
    def call(number, _asked, fields, _answered):
        return call.ask(number, fields) if call else _DENIED

    @staticmethod
    def taken(length):
        return call.take(length) if call else b""

    @staticmethod
    def log(level, text):
        if call:
            call.log(_LEVELS[level], text)
        else:
            print(text, file=sys.stderr)

    @staticmethod
    def info(number):
        if number == 0:
            return time.time_ns()
        if number == 1:
            return time.monotonic_ns()
        return call.info(number) if call else 0


class Database:
    def __init__(self, name):
        self._name = name

    @property
    def name(self):
        return self._name

    def query(self, statement, *args):
        first = _SQL.ask(self.name, statement, args, None)
        if _SQL.stream(first):
            return _SQL.rows(self.name, first)
        rows = _AllRows(_SQL.dicts(self.name, first, first))
        rows.first = first
        return rows

    def query_row(self, statement, *args):
        return _SQL.row(self.name, statement, args)


class _AllRows(list):
    """All rows of a query."""

    @property
    def columns(self):
        return _SQL.rows("", self.first).columns

    def values(self):
        return _SQL.rows("", self.first).values()

    def dicts(self):
        return self


class _SQL:
    """Queries of databases. An answer is a tuple: columns, rows and the number of the stream with more of them."""

    Database = Database
    rows = None
    _fail = None

    @classmethod
    def begin(cls, fail, rows):
        cls._fail = staticmethod(fail)
        cls.rows = rows

    @classmethod
    def ask(cls, connection, statement, args, most):
        return cls._answer(8, (connection, statement, args, most), connection)

    @classmethod
    def more(cls, connection, stream):
        return cls._answer(16, (stream,), connection)

    @classmethod
    def _answer(cls, number, fields, connection):
        answer = call.ask(number, fields) if call else _DENIED
        if isinstance(answer, int):
            cls._fail(answer, connection)
        return answer

    @staticmethod
    def columns(_connection, answer):
        return answer[0]

    @staticmethod
    def stream(answer):
        return answer[2] or 0

    @classmethod
    def lists(cls, connection, first, answer):
        rows = [values or [] for (values,) in answer[1] or ()]
        if any([len(row) != len(first[0] or ()) for row in rows]):
            cls._fail(_INTERNAL, connection)
        return rows

    @classmethod
    def dicts(cls, connection, first, answer):
        names = [name or "" for name, _ in first[0] or ()]
        return [dict(zip(names, row)) for row in cls.lists(connection, first, answer)]

    @classmethod
    def row(cls, connection, statement, args):
        answer = cls.ask(connection, statement, args, 1)
        rows = cls.dicts(connection, answer, answer)
        return rows[0] if rows else None


class _Functions:
    """What the engine knows of a function."""

    @staticmethod
    def about(function):
        names = {}
        for name, annotation in getattr(function, "__annotations__", {}).items():
            kind = _name_of(annotation)
            if kind and name != "return":
                names[name] = kind
        return getattr(function, "__doc__", None) if inspect.isfunction(function) else None, names

    @staticmethod
    def parameters(function):
        if not inspect.isfunction(function):
            return None
        found = inspect.signature(function).parameters.values()
        names = [p.name for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        return tuple(names), any(p.kind == p.VAR_KEYWORD for p in found)


def _name_of(annotation):
    """The name that an annotation is, or that its union begins with: others are not evaluated."""
    if isinstance(annotation, str):
        name = annotation.split("|")[0].strip()
        return name if name.isidentifier() else None
    if isinstance(annotation, types.UnionType):
        annotation = annotation.__args__[0]
    return annotation.__name__ if type(annotation) is type else None


def _serve(function):
    global operations
    operations = function


def _report(error):
    """Logs an error with its traceback, and notes it for the test."""
    lines = "".join(traceback.format_exception(error)).rstrip()
    if call:
        call.fault = error
        call.log("error", lines)
    else:
        print(lines, file=sys.stderr)


def settled(answer):
    """What a coroutine returns, or the answer itself. It runs in a thread if a test runs in an event loop."""
    if not inspect.iscoroutine(answer):
        return answer
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(answer)
    result = []
    thread = threading.Thread(target=lambda: result.append(_outcome(answer)))
    thread.start()
    thread.join()
    value, error = result[0]
    if error:
        raise error
    return value


def _outcome(coroutine):
    try:
        return asyncio.run(coroutine), None
    except BaseException as error:
        return None, error


class _Json:
    """JSON as the engine writes it: characters beyond ASCII are themselves."""

    loads = staticmethod(json.loads)

    @staticmethod
    def dumps(value):
        return json.dumps(value, ensure_ascii=False)


def _module(name, members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made


def _members(thing):
    return {name: getattr(thing, name) for name in dir(thing) if not name.startswith("_")}


class _Library:
    """Finds modules of the sandbox's library that CPython does not have, as httpx where that is not installed."""

    _DIR = os.path.join(os.path.dirname(__file__), "library")

    @classmethod
    def find_spec(cls, name, _path, _target=None):
        file = os.path.join(cls._DIR, *name.split("."))
        for found, is_package in ((file + ".py", False), (os.path.join(file, "__init__.py"), True)):
            if os.path.isfile(found):
                places = [file] if is_package else None
                return importlib.util.spec_from_file_location(name, found, submodule_search_locations=places)
        return None


def install():
    """Makes the modules of the engine, and has the SDK run coroutines as CPython does."""
    frame = _Frame()
    _module("micropython", {"const": lambda value: value})
    _module("ujson", _members(_Json))
    _module("_builtins", {"_OSError": OSError})
    _module("_files", {"open": lambda *args, **named: builtins.open(*args, **named)})
    _module("_wasmres_frame", {n: getattr(frame, n) for n in _members(_Frame)})
    _module("_wasmres_request", _members(_Request))
    _module("_wasmres_service", _members(_Service))
    _module("_wasmres_sql", _members(_SQL))
    _module("_wasmres_functions", _members(_Functions))
    _module("_wasmres_engine", {"serve": _serve, "report": _report})
    from . import handler

    handler.settled = settled
    from . import serve

    sys.meta_path.append(_Library)
    serve.register = lambda provider: None  # a process may have several
    _serve(serve._serve)


install()
