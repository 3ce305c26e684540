"""Requests that the operator has granted, by urlopen."""

from io import BytesIO

from _web import Headers, send
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit


class Request:
    def __init__(self, url, data=None, headers=None, origin_req_host=None, unverifiable=False, method=None):
        self.full_url = url
        self.data = data
        self._headers = Headers(headers)
        self._method = method

    @property
    def headers(self):
        return {_capital(name): value for name, value in self._headers.items()}

    type = property(lambda self: urlsplit(self.full_url).scheme)
    host = property(lambda self: urlsplit(self.full_url).netloc)
    selector = property(lambda self: urlsplit(self.full_url).path)

    def get_method(self):
        return self._method or ("GET" if self.data is None else "POST")

    def get_full_url(self):
        return self.full_url

    def add_header(self, key, value):
        self._headers[key] = value

    add_unredirected_header = add_header

    def has_header(self, name):
        return name in self._headers

    def get_header(self, name, default=None):
        return self._headers.get(name, default)


def _capital(name):
    return name[:1].upper() + name[1:].lower()


class _Response:
    def __init__(self, answer, url):
        self._answer = answer
        self._body = None
        self.status = self.code = answer.status_code
        self.reason = self.msg = answer.reason
        self.headers = answer.headers
        self.url = answer._answer.url or url
        self.version = 11

    @property
    def _stream(self):
        if self._body is None:
            self._body = BytesIO(self._answer.content)
        return self._body

    def read(self, amt=None):
        return self._stream.read() if amt is None or amt < 0 else self._stream.read(amt)

    def readline(self, *args):
        return self._stream.readline(*args)

    def readlines(self):
        return list(self._stream)

    def __iter__(self):
        return iter(self._stream)

    def getcode(self):
        return self.status

    def geturl(self):
        return self.url

    def info(self):
        return self.headers

    def getheader(self, name, default=None):
        return self.headers.get(name, default)

    def getheaders(self):
        return self.headers.pairs()

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def urlopen(url, data=None, timeout=None, *, cafile=None, capath=None, cadefault=False, context=None):
    request = Request(url, data) if isinstance(url, str) else url
    body = request.data if data is None else data
    if isinstance(body, str):
        raise TypeError("POST data should be bytes, an iterable of bytes, or a file object. It cannot be of type str.")
    if request.type not in ("http", "https"):
        raise URLError("unknown url type: " + request.type) if request.type else ValueError(
            "unknown url type: " + repr(request.full_url))
    if body is not None:
        request._headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
    answer = send(request.get_method(), request.full_url, request._headers, body, timeout, _error_of)
    response = _Response(answer, request.full_url)
    if 200 <= response.status < 300:
        return response
    raised = HTTPError(response.url, response.status, response.reason, response.headers, response)
    raised.failure = answer.failure()
    raise raised


def _error_of(kind, message, failure):
    raised = URLError(TimeoutError(message) if kind == "timeout" else message)
    raised.failure = failure
    return raised


def urlretrieve(url, filename=None, reporthook=None, data=None):
    response = urlopen(url, data)
    with open(filename, "wb") as file:
        file.write(response.read())
    return filename, response.headers


def pathname2url(path):
    return quote(path)
