"""The Context of a request."""

import random

import _wasmres_request as asked

from .. import serve
from ..log import log
from ..request import Request
from .resources import ResourceResult, result_of


class _Done:
    """What is over, and may be awaited or not."""

    def __iter__(self):
        return iter(())

    __await__ = __iter__


_done = _Done()


class Context(Request):
    """A parameter of a handler with this annotation gets it. Its logs go to the operator."""

    _id = _state = None

    def __init__(self, fields, variables=()):
        self._encoded = fields
        self._variables = variables
        asked.context(self)

    @property
    def fastmcp(self):
        """The server."""
        return serve.provider()

    @property
    def request_id(self):
        """Names the request. It differs from the id that the client has given it."""
        if self._id is None:
            self._id = "%08x%08x" % (random.getrandbits(30), random.getrandbits(30))
        return self._id

    @property
    def client_id(self):
        """The subject of the client, or None."""
        principal = self.principal
        return principal["subject"] if principal else None

    @property
    def request_context(self):
        return self

    @property
    def session_id(self):
        raise TypeError("ctx.session_id: wasmres tells a provider nothing of sessions: ctx.client_id is who asks")

    def log(self, message, level="info", **_):
        """Writes to the operator's log. The official SDK gives the level first."""
        if message in _LEVELS:
            message, level = level, message
        getattr(log, _LEVELS.get(level, "error"))(message)
        return _done

    def debug(self, message, **_):
        return self.log(message, "debug")

    def info(self, message, **_):
        return self.log(message, "info")

    def warning(self, message, **_):
        return self.log(message, "warning")

    def error(self, message, **_):
        return self.log(message, "error")

    def report_progress(self, progress, total=None, message=None):
        self.progress(progress, total, message)
        return _done

    async def read_resource(self, uri):
        """What a resource of this provider answers, a ResourceResult, which is a list of its contents."""
        return result_of(self.fastmcp.answer(str(uri), self), str(uri))

    async def get_state(self, key):
        return (self._state or {}).get(key)

    async def set_state(self, key, value, **_):
        """Keeps a value until the request ends."""
        if self._state is None:
            self._state = {}
        self._state[key] = value

    async def delete_state(self, key):
        (self._state or {}).pop(key, None)

    def sample(self, *_, **__):
        raise TypeError("ctx.sample: wasmres serves resources: they cannot ask the client's model")

    def elicit(self, *_, **__):
        raise TypeError("ctx.elicit: wasmres serves resources: they cannot ask the user")


_LEVELS = {"debug": "debug", "info": "info", "notice": "info", "warning": "warning", "error": "error",
           "critical": "error", "alert": "error", "emergency": "error"}


def get_context():
    """The Context of the request, also where no parameter has it."""
    return asked.context() or serve.request(Context)


def CurrentContext():
    """The default of a parameter with the annotation Context."""
