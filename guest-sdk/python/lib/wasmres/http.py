"""Fetching URLs that the operator granted."""

import ujson as json

from . import abi
from .failure import failure_of
from .service import ask, bytes_of, expect, taken

_WHY = {
    abi.CODE_INVALID_PARAMS: "the request makes no sense",
    abi.CODE_UNAVAILABLE: "there is no proper answer",
    abi.CODE_DEADLINE: "the answer did not come in time",
}


def fetch(url, *, method=None, headers=None, body=None, max_bytes=None, timeout=None):
    """Sends a request and returns the answer, whatever its status, when its head is there. headers is a dict or a list of
    pairs; {{secret:NAME}} in a value stands for a secret that the operator granted for the server. timeout is in seconds,
    for all of the answer."""
    if isinstance(headers, dict):
        headers = list(headers.items())
    fields = (
        method.upper() if method else None,
        url,
        headers,
        None if body is None else bytes_of(body),
        max_bytes,
        None if timeout is None else max(1, int(timeout * 1000)),
    )
    return Response(ask(abi.SERVICE_HTTP, "ss(ss)bnn", "n(ss)sn", fields, "fetch", _WHY))


class Response:
    """What a server answered."""

    def __init__(self, fields):
        status, headers, url, stream = fields
        expect(status is not None and 100 <= status <= 999, "fetch")
        self.status = self.status_code = status
        self.headers = [(name or "", value or "") for name, value in headers or ()]
        self.url = url or ""
        self._part = taken(None)  # that is next; the host forgets it with the next call of a service
        self._stream = stream

    @property
    def ok(self):
        return 200 <= self.status < 300

    def header(self, name, default=None):
        """The first field of that name, in either case."""
        for other, value in self.headers:
            if other.lower() == name.lower():
                return value
        return default

    def check(self):
        """Returns the answer if it is ok. Otherwise it raises what a handler may leave to the client: NotFound for 404 and
        410; Denied for 401 and 403; Unavailable for 408, 429 and from 500 on."""
        if self.ok:
            return self
        failure = failure_of(_code_of(self.status), "the server answers " + str(self.status))
        after = self.header("retry-after", "")
        if failure.code == abi.CODE_UNAVAILABLE and after.isdigit() and len(after) < 10:
            failure.retry_after = int(after)
        raise failure

    raise_for_status = check

    def chunks(self, start=0, end=None):
        """Yields the body, to be read once, in parts, of which only one is in memory."""
        while True:
            part, self._part = self._part, None
            if part:
                yield part
            if not self._stream:
                return
            (more,) = ask(abi.SERVICE_STREAM, "n", "?", (self._stream,), "fetch", _WHY)
            self._part = taken(None)
            if not more:
                self._stream = None

    @property
    def body(self):
        return self.chunks()

    @property
    def content(self):
        """The whole body."""
        whole = bytearray()
        for part in self.chunks():
            whole += part
        return bytes(whole)

    @property
    def text(self):
        return str(self.content, "utf-8")

    def json(self):
        return json.loads(self.content)


def _code_of(status):
    if status in (404, 410):
        return abi.CODE_NOT_FOUND
    if status in (401, 403):
        return abi.CODE_DENIED
    if status in (408, 429) or status >= 500:
        return abi.CODE_UNAVAILABLE
    return abi.CODE_INTERNAL
