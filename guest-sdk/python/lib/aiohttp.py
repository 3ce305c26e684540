"""The client aiohttp, over requests that the operator has granted."""

from _web import Headers, authorize, body_of, cookies_of, lines_of, send, url_with


class ClientError(Exception):
    """failure is what the client is told of an error that the provider does not catch."""

    failure = None


class ClientConnectionError(ClientError):
    pass


class ClientConnectorError(ClientConnectionError):
    pass


class ServerTimeoutError(ClientConnectionError):
    pass


class ClientPayloadError(ClientError):
    pass


class ContentTypeError(ClientError):
    pass


class ClientResponseError(ClientError):
    def __init__(self, message, status=0, headers=None):
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


_KINDS = {"timeout": ServerTimeoutError, "connect": ClientConnectorError, "denied": ClientConnectorError,
          "protocol": ClientError}


class ClientTimeout:
    def __init__(self, total=None, **_):
        self.total = total


class TCPConnector:
    def __init__(self, **_):
        pass


class BasicAuth(tuple):
    def __init__(self, login, password=""):
        super().__init__((login, password))


class _Stream:
    def __init__(self, answer):
        self._answer = answer

    async def read(self, size=-1):
        return self._answer.content

    def iter_chunked(self, size):
        return _Steps(self._answer.parts())

    def __aiter__(self):
        return _Steps([line.encode() + b"\n" for line in lines_of(self._answer.parts())])


class _Steps:
    def __init__(self, items):
        self._items = iter(items)

    def __aiter__(self):
        return self

    async def __anext__(self):
        for item in self._items:
            return item
        raise StopAsyncIteration


class ClientResponse:
    def __init__(self, answer, method, url):
        self._answer = answer
        self.method = method
        self.status = answer.status_code
        self.reason = answer.reason
        self.headers = answer.headers
        self.url = answer._answer.url or url
        self.content_type = self.headers.get("content-type", "application/octet-stream").split(";")[0].strip()
        self.charset = answer.charset()
        self.content = _Stream(answer)

    @property
    def ok(self):
        return self.status < 400

    async def read(self):
        return self._answer.content

    async def text(self, encoding=None, errors="strict"):
        return self._answer.text(encoding)

    async def json(self, *, encoding=None, loads=None, content_type="application/json"):
        if content_type and not (self.content_type == content_type or self.content_type.endswith("+json")):
            raise ContentTypeError("%d, message='Attempt to decode JSON with unexpected mimetype: %s', url='%s'" % (
                self.status, self.content_type, self.url))
        return loads(self._answer.text()) if loads else self._answer.json()

    def raise_for_status(self):
        if self.status >= 400:
            raised = ClientResponseError("%d, message='%s', url='%s'" % (self.status, self.reason, self.url), self.status,
                                         self.headers)
            raised.failure = self._answer.failure()
            raise raised

    def release(self):
        pass

    close = release


class _Pending:
    """A request that is sent when it is awaited or entered."""

    def __init__(self, ask):
        self._ask = ask

    def __await__(self):
        return self._ask()
        yield

    __iter__ = __await__  # of an awaited object in MicroPython

    async def __aenter__(self):
        return self._ask()

    async def __aexit__(self, *_):
        pass


class ClientSession:
    def __init__(self, base_url=None, *, headers=None, cookies=None, auth=None, timeout=None, raise_for_status=False, **_):
        self._base = str(base_url or "")
        self.headers = Headers(headers)
        self.cookies = cookies or {}
        self.auth = auth
        self.timeout = timeout
        self._raises = raise_for_status
        self.closed = False

    def request(self, method, url, **options):
        return _Pending(lambda: self._send(method, str(url), **options))

    def _send(self, method, url, *, params=None, data=None, json=None, headers=None, cookies=None, auth=None, timeout=None,
              **_):
        if "://" not in url:
            url = self._base.rstrip("/") + "/" + url.lstrip("/")
        fields = Headers(self.headers.pairs())
        fields.update(headers)
        crumbs = dict(self.cookies)
        crumbs.update(cookies or {})
        cookies_of(fields, crumbs)
        authorize(fields, auth or self.auth)
        body = body_of(fields, json, data)
        timeout = timeout or self.timeout
        timeout = timeout.total if isinstance(timeout, ClientTimeout) else timeout
        url = url_with(url, params)
        answer = ClientResponse(send(method, url, fields, body, timeout, _error_of), method, url)
        if self._raises:
            answer.raise_for_status()
        return answer

    def get(self, url, **options):
        return self.request("GET", url, **options)

    def head(self, url, **options):
        return self.request("HEAD", url, **options)

    def post(self, url, **options):
        return self.request("POST", url, **options)

    def put(self, url, **options):
        return self.request("PUT", url, **options)

    def patch(self, url, **options):
        return self.request("PATCH", url, **options)

    def delete(self, url, **options):
        return self.request("DELETE", url, **options)

    async def close(self):
        self.closed = True

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.closed = True


def _error_of(kind, message, failure):
    raised = _KINDS[kind](message)
    raised.failure = failure
    return raised


def request(method, url, **options):
    return ClientSession().request(method, url, **options)
