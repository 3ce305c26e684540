"""The client httpx, over requests that the operator has granted. The host keeps connections and follows redirects."""

from _web import Answer, Headers, authorize, body_of, cookies_of, lines_of, send, url_with
from urllib.parse import urljoin, urlsplit


class HTTPError(Exception):
    """failure is what the client is told of an error that the provider does not catch."""

    failure = None
    request = None


class RequestError(HTTPError):
    def __init__(self, message="", *, request=None):
        super().__init__(message)
        self.request = request


class TransportError(RequestError):
    pass


class TimeoutException(TransportError):
    pass


class ConnectTimeout(TimeoutException):
    pass


class ReadTimeout(TimeoutException):
    pass


class WriteTimeout(TimeoutException):
    pass


class PoolTimeout(TimeoutException):
    pass


class NetworkError(TransportError):
    pass


class ConnectError(NetworkError):
    pass


class ReadError(NetworkError):
    pass


class ProtocolError(TransportError):
    pass


class RemoteProtocolError(ProtocolError):
    pass


class UnsupportedProtocol(TransportError):
    pass


class DecodingError(RequestError):
    pass


class TooManyRedirects(RequestError):
    pass


class InvalidURL(Exception):
    pass


class HTTPStatusError(HTTPError):
    def __init__(self, message, *, request, response):
        super().__init__(message)
        self.request = request
        self.response = response


class Timeout:
    def __init__(self, timeout=None, *, connect=None, read=None, write=None, pool=None):
        self.connect, self.read, self.write, self.pool = connect or timeout, read or timeout, write or timeout, pool or timeout


class Limits:
    def __init__(self, **_):
        pass


class BasicAuth(tuple):
    def __init__(self, username, password):
        super().__init__((username, password))


class URL:
    def __init__(self, url, params=None):
        self._text = url_with(url, params)

    @property
    def _parts(self):
        return urlsplit(self._text)

    scheme = property(lambda self: self._parts.scheme)
    host = property(lambda self: self._parts.hostname or "")
    port = property(lambda self: self._parts.port)
    path = property(lambda self: self._parts.path or "/")
    query = property(lambda self: self._parts.query.encode())
    fragment = property(lambda self: self._parts.fragment)

    def join(self, url):
        return URL(urljoin(self._text, str(url)))

    def copy_merge_params(self, params):
        return URL(self._text, params)

    def __str__(self):
        return self._text

    def __repr__(self):
        return "URL(" + repr(self._text) + ")"

    def __eq__(self, other):
        return str(other) == self._text

    def __hash__(self):
        return hash(self._text)


class Request:
    def __init__(self, method, url, *, params=None, headers=None, cookies=None, content=None, data=None, files=None, json=None):
        self.method = method.upper()
        self.url = URL(url, params)
        self.headers = Headers(headers)
        cookies_of(self.headers, cookies)
        self.content = body_of(self.headers, json, data, content, files)

    def __repr__(self):
        return "<Request(" + repr(self.method) + ", " + repr(str(self.url)) + ")>"


class Response:
    def __init__(self, answer, request):
        self._answer = answer
        self.request = request
        self.status_code = answer.status_code
        self.headers = answer.headers
        self.url = URL(answer._answer.url or str(request.url))
        self.reason_phrase = answer.reason
        self.encoding = answer.charset() or "utf-8"
        self.http_version = "HTTP/1.1"
        self.history, self.cookies = [], {}
        self.is_closed = False

    is_informational = property(lambda self: 100 <= self.status_code < 200)
    is_success = property(lambda self: 200 <= self.status_code < 300)
    is_redirect = property(lambda self: 300 <= self.status_code < 400)
    is_client_error = property(lambda self: 400 <= self.status_code < 500)
    is_server_error = property(lambda self: 500 <= self.status_code < 600)
    is_error = property(lambda self: 400 <= self.status_code < 600)

    @property
    def content(self):
        return self._answer.content

    @property
    def text(self):
        return self._answer.text(self.encoding)

    def json(self, **options):
        return self._answer.json(**options)

    def read(self):
        return self.content

    async def aread(self):
        return self.content

    def raise_for_status(self):
        if self.is_success:
            return self
        kind = {1: "Informational response", 3: "Redirect response", 4: "Client error", 5: "Server error"}
        message = "%s '%d %s' for url '%s'" % (
            kind.get(self.status_code // 100, "Error"), self.status_code, self.reason_phrase, self.url)
        raised = HTTPStatusError(message, request=self.request, response=self)
        raised.failure = self._answer.failure()
        raise raised

    def iter_bytes(self, chunk_size=None):
        return self._answer.parts()

    iter_raw = aiter_bytes = aiter_raw = iter_bytes

    def iter_text(self, chunk_size=None):
        for part in self._answer.parts():
            yield str(part, "utf-8", "replace")

    def iter_lines(self):
        return lines_of(self._answer.parts())

    aiter_text, aiter_lines = iter_text, iter_lines

    def close(self):
        self.is_closed = True

    async def aclose(self):
        self.is_closed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    def __repr__(self):
        return "<Response [%d %s]>" % (self.status_code, self.reason_phrase)


_KINDS = {"timeout": ReadTimeout, "connect": ConnectError, "denied": ConnectError, "protocol": RemoteProtocolError}


class _Base:
    def __init__(self, *, auth=None, params=None, headers=None, cookies=None, timeout=None, follow_redirects=False,
                 base_url="", **_):
        self.auth = auth
        self.params = params or {}
        self.headers = Headers(headers)
        self.cookies = cookies or {}
        self.timeout = timeout
        self.base_url = URL(base_url)
        self.is_closed = False

    def build_request(self, method, url, *, params=None, headers=None, cookies=None, **body):
        merged = Headers(self.headers.pairs())
        merged.update(headers)
        crumbs = dict(self.cookies)
        crumbs.update(cookies or {})
        base = str(self.base_url)
        url = str(url)
        if base and "://" not in url:
            url = base.rstrip("/") + "/" + url.lstrip("/") if url else base
        return Request(method, url_with(url, self.params), params=params, headers=merged.pairs(), cookies=crumbs, **body)

    def _send(self, request, auth=None, timeout=None):
        scheme = request.url.scheme
        if scheme not in ("http", "https"):
            raise UnsupportedProtocol("Request URL " + ("has an unsupported protocol '" + scheme + "://'." if scheme else
                                      "is missing an 'http://' or 'https://' protocol."), request=request)
        authorize(request.headers, self.auth if auth is None else auth)
        timeout = self.timeout if timeout is None else timeout
        if isinstance(timeout, Timeout):
            timeout = timeout.read

        def error_of(kind, message, failure):
            raised = _KINDS[kind](message, request=request)
            raised.failure = failure
            return raised

        answer = send(request.method, str(request.url), request.headers, request.content, timeout, error_of)
        return Response(answer, request)

    def _request(self, method, url, *, auth=None, timeout=None, follow_redirects=None, extensions=None, **options):
        return self._send(self.build_request(method, url, **options), auth, timeout)


class Client(_Base):
    def request(self, method, url, **options):
        return self._request(method, url, **options)

    def send(self, request, *, stream=False, auth=None, follow_redirects=None):
        return self._send(request, auth)

    stream = request

    def get(self, url, **options):
        return self._request("GET", url, **options)

    def head(self, url, **options):
        return self._request("HEAD", url, **options)

    def options(self, url, **options):
        return self._request("OPTIONS", url, **options)

    def post(self, url, **options):
        return self._request("POST", url, **options)

    def put(self, url, **options):
        return self._request("PUT", url, **options)

    def patch(self, url, **options):
        return self._request("PATCH", url, **options)

    def delete(self, url, **options):
        return self._request("DELETE", url, **options)

    def close(self):
        self.is_closed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class AsyncClient(_Base):
    async def request(self, method, url, **options):
        return self._request(method, url, **options)

    async def send(self, request, *, stream=False, auth=None, follow_redirects=None):
        return self._send(request, auth)

    def stream(self, method, url, **options):
        return self._request(method, url, **options)

    async def get(self, url, **options):
        return self._request("GET", url, **options)

    async def head(self, url, **options):
        return self._request("HEAD", url, **options)

    async def options(self, url, **options):
        return self._request("OPTIONS", url, **options)

    async def post(self, url, **options):
        return self._request("POST", url, **options)

    async def put(self, url, **options):
        return self._request("PUT", url, **options)

    async def patch(self, url, **options):
        return self._request("PATCH", url, **options)

    async def delete(self, url, **options):
        return self._request("DELETE", url, **options)

    async def aclose(self):
        self.is_closed = True

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.is_closed = True


class HTTPTransport:
    def __init__(self, **_):
        pass


AsyncHTTPTransport = HTTPTransport


def request(method, url, **options):
    for name in ("verify", "cert", "proxy", "proxies", "trust_env"):
        options.pop(name, None)
    return Client()._request(method, url, **options)


stream = request


def get(url, **options):
    return request("GET", url, **options)


def head(url, **options):
    return request("HEAD", url, **options)


def options(url, **options):
    return request("OPTIONS", url, **options)


def post(url, **options):
    return request("POST", url, **options)


def put(url, **options):
    return request("PUT", url, **options)


def patch(url, **options):
    return request("PATCH", url, **options)


def delete(url, **options):
    return request("DELETE", url, **options)
