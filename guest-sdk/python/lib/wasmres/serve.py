"""One operation after the other."""

import _wasmres_engine as engine
import _wasmres_frame as frame
import _wasmres_request as asked

from . import abi, out
from .content import send_answer
from .failure import Failure, NotFound
from .handler import resumed, settled
from .manifest import put_manifest
from .out import json_of
from .page import Page

_MAX_COMPLETIONS = 100  # that MCP passes on
_provider = None


def register(provider):
    global _provider
    engine.serve(provider, _serve, _finish, _fail, settled, resumed)  # which refuses a second one
    _provider = provider


def provider():
    """The provider that answers."""
    return _provider


def request(kind):
    """The request that is answered, as an object of a class; one without fields when none is."""
    fields = asked.fields()
    number = fields.get("route", 0)
    return kind(fields, _provider.templates[number - 1].variables if number else ())


def _serve(op, fields):
    """Returns the code that the operation ends with."""
    out.begin()
    try:
        if op > 31 or not _provider.ops >> op & 1:
            return abi.CODE_UNSUPPORTED
        _run(op, fields)
        out.flush_unless_enough()  # after the entries of a list nothing follows that the host would miss
        return abi.CODE_OK
    except Exception as error:
        return _code_of(error)


def _finish(route, asking, answer):
    """As _serve, of a read whose handler has answered. asking is the request if the handler got it."""
    try:
        send_answer(answer, asking or request(_provider.request_type), route)
        out.flush_unless_enough()
        return abi.CODE_OK
    except Exception as error:
        return _code_of(error)


def _fail(error):
    """As _serve, of a read whose handler has raised an error."""
    return _code_of(error)


def _code_of(error):
    if isinstance(error, MemoryError):
        raise error
    code = out.stopped_code()
    if code or isinstance(error, out.Stopped):
        return code
    failure = error if isinstance(error, Failure) else getattr(error, "failure", None)  # of the library's errors
    return _put_failure(failure) if isinstance(failure, Failure) else _fault(error)


def _run(op, fields):
    if op == abi.OP_READ:
        _read(fields)
    elif op == abi.OP_LIST:
        _list(_provider.lister, fields)
    elif op == abi.OP_LIST_DIR:
        _list(_provider.directory_lister, fields)
    elif op == abi.OP_COMPLETE:
        _complete(fields)
    elif op == abi.OP_SUBSCRIBE:
        watch = _route_of(fields).watch
        frame.number(14, watch[0] * 1000 if watch else 0)
    elif op == abi.OP_POLL:
        _poll(fields)
    elif op == abi.OP_DESCRIBE:
        _describe()
    else:
        raise Failure("", code=abi.CODE_UNSUPPORTED)


def _read(fields):
    route = _route_of(fields)
    request = _provider.request_type(fields, route.variables)
    send_answer(route.handler.call(request), request, route)


def _describe():
    try:
        put_manifest(_provider)
    except Exception as error:  # for the author, who builds the provider
        engine.report(error)
        raise Failure(type(error).__name__ + ": " + str(error))


def _route_of(fields):
    """The route that answers for what the host has routed."""
    number = fields.get("route", 0)
    if number:
        return _provider.templates[number - 1]
    route = _provider.resources.get(fields.get("uri", "")) or _provider.any
    if not route:
        raise NotFound("")
    return route


def _list(lister, fields):
    page, number = Page(fields), fields.get("route", 0)
    variables = _provider.templates[number - 1].variables if number else ()
    answer = lister.handler.call(_provider.request_type(fields, variables), page)
    if answer is not None:
        page.take(answer)
    page.finish(lister)


def _poll(fields):
    route = _route_of(fields)
    if not route.watch:
        raise Failure("", code=abi.CODE_UNSUPPORTED)
    etag = route.version.call(_provider.request_type(fields, route.variables))
    if not isinstance(etag, str):
        raise TypeError(route.uri + ": watch: the function returned " + type(etag).__name__ + ", not an etag")
    frame.begin(3)
    frame.text(1, fields.get("uri"))
    frame.text(7, etag)
    frame.number(10, 1 if etag and etag == fields.get("if_none_match") else 0)
    frame.end()


def _complete(fields):
    typed = fields.get("typed", "")
    for route in _provider.templates:
        if route.uri == fields.get("uri"):
            source = route.completions.get(fields.get("argument"), ())
            return _put_completions(_suggested(source, typed, _provider.request_type(fields, route.variables)))
    raise NotFound("")


def _suggested(source, typed, request):
    if callable(source):
        return list(settled(source(typed, request)) or ())
    return [value for value in source if value.lower().startswith(typed.lower())]


def _put_completions(values):
    for value in values[:_MAX_COMPLETIONS]:
        frame.element(6, str(value))
    frame.number(7, len(values))
    frame.number(8, 1 if len(values) > _MAX_COMPLETIONS else 0)


def _put_failure(failure):
    frame.drop()
    frame.begin(5)
    frame.text(1, failure.message)
    frame.text(2, json_of(failure.data))
    frame.number(3, (failure.retry_after or 0) * 1000)
    frame.end()
    frame.emit()
    return failure.code


def _fault(error):
    """Logs what is no failure, and tells the client nothing of it."""
    frame.drop()
    engine.report(error)
    return abi.CODE_INTERNAL
