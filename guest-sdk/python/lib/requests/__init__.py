"""The client requests, over requests that the operator has granted. The host keeps connections and follows redirects."""

from _web import Headers, authorize, body_of, cookies_of, lines_of, send, url_with

from . import exceptions
from .exceptions import (
    ConnectionError, ConnectTimeout, HTTPError, JSONDecodeError, ReadTimeout, RequestException, Timeout, TooManyRedirects,
)

_KINDS = {"timeout": ReadTimeout, "connect": ConnectionError, "denied": ConnectionError, "protocol": ConnectionError}


class codes:
    ok, created, accepted, no_content = 200, 201, 202, 204
    bad_request, unauthorized, forbidden, not_found, too_many_requests = 400, 401, 403, 404, 429
    internal_server_error, service_unavailable = 500, 503


class Response:
    def __init__(self, answer, url):
        self._answer = answer
        self.status_code = answer.status_code
        self.headers = answer.headers
        self.reason = answer.reason
        self.url = answer._answer.url or url
        self.encoding = answer.charset()
        self.history, self.cookies = [], {}

    @property
    def ok(self):
        return self.status_code < 400

    @property
    def content(self):
        return self._answer.content

    @property
    def text(self):
        return self._answer.text(self.encoding)

    apparent_encoding = "utf-8"

    def json(self, **options):
        try:
            return self._answer.json(**options)
        except ValueError as error:
            message = str(error)
        raise JSONDecodeError(message)

    def raise_for_status(self):
        if self.status_code < 400:
            return
        message = "%d %s Error: %s for url: %s" % (
            self.status_code, "Client" if self.status_code < 500 else "Server", self.reason, self.url)
        raised = HTTPError(message, response=self)
        raised.failure = self._answer.failure()
        raise raised

    def iter_content(self, chunk_size=1, decode_unicode=False):
        return self._answer.parts()

    def iter_lines(self, chunk_size=512, decode_unicode=False):
        for line in lines_of(self._answer.parts()):
            yield line if decode_unicode else line.encode()

    def close(self):
        pass

    def __bool__(self):
        return self.ok

    def __iter__(self):
        return self._answer.parts()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __repr__(self):
        return "<Response [" + str(self.status_code) + "]>"


class Session:
    def __init__(self):
        self.headers = Headers()
        self.params, self.cookies = {}, {}
        self.auth = None
        self.verify = True

    def request(self, method, url, params=None, data=None, headers=None, cookies=None, files=None, auth=None, timeout=None,
                allow_redirects=True, proxies=None, hooks=None, stream=None, verify=None, cert=None, json=None):
        if "://" not in url:
            raise exceptions.MissingSchema("Invalid URL " + repr(url) + ": No scheme supplied. Perhaps you meant https://"
                                           + url + "?")
        fields = Headers(self.headers.pairs())
        fields.update(headers)
        crumbs = dict(self.cookies)
        crumbs.update(cookies or {})
        cookies_of(fields, crumbs)
        authorize(fields, auth or self.auth)
        body = body_of(fields, json, data, None, files)
        url = url_with(url_with(url, self.params), params)
        if isinstance(timeout, tuple):
            timeout = timeout[1]
        return Response(send(method.upper(), url, fields, body, timeout, _error_of), url)

    def get(self, url, **options):
        return self.request("GET", url, **options)

    def head(self, url, **options):
        return self.request("HEAD", url, **options)

    def options(self, url, **options):
        return self.request("OPTIONS", url, **options)

    def post(self, url, data=None, json=None, **options):
        return self.request("POST", url, data=data, json=json, **options)

    def put(self, url, data=None, **options):
        return self.request("PUT", url, data=data, **options)

    def patch(self, url, data=None, **options):
        return self.request("PATCH", url, data=data, **options)

    def delete(self, url, **options):
        return self.request("DELETE", url, **options)

    def mount(self, prefix, adapter):
        pass

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def _error_of(kind, message, failure):
    raised = _KINDS[kind](message)
    raised.failure = failure
    return raised


session = Session


def request(method, url, **options):
    return Session().request(method, url, **options)


def get(url, params=None, **options):
    return request("GET", url, params=params, **options)


def head(url, **options):
    return request("HEAD", url, **options)


def options(url, **options):
    return request("OPTIONS", url, **options)


def post(url, data=None, json=None, **options):
    return request("POST", url, data=data, json=json, **options)


def put(url, data=None, **options):
    return request("PUT", url, data=data, **options)


def patch(url, data=None, **options):
    return request("PATCH", url, data=data, **options)


def delete(url, **options):
    return request("DELETE", url, **options)
