"""What the clients of HTTP have in common: requests as they are sent, and answers as they come."""

from json import dumps, loads

from _encodings import decode
from base64 import b64encode
from urllib.parse import urlencode
from wasmres import abi
from wasmres.failure import Failure, failure_of
from wasmres.http import fetch

REASONS = {
    100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted",
    203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content", 206: "Partial Content",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required",
    403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout",
    409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 418: "I'm a Teapot",
    422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout",
}


class Headers:
    """Fields by their names in either case. Values of fields of the same name are joined by commas."""

    def __init__(self, fields=None):
        pairs = fields.items() if hasattr(fields, "items") else fields or ()
        self._pairs = [(str(name), str(value)) for name, value in pairs]

    def get_list(self, name):
        return [value for other, value in self._pairs if other.lower() == name.lower()]

    get_all = getlist = get_list

    def get(self, name, default=None):
        values = self.get_list(name)
        return ", ".join(values) if values else default

    def __getitem__(self, name):
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __setitem__(self, name, value):
        self.pop(name)
        self._pairs.append((name, str(value)))

    def __delitem__(self, name):
        self[name]
        self.pop(name)

    def pop(self, name, default=None):
        value = self.get(name, default)
        self._pairs = [pair for pair in self._pairs if pair[0].lower() != name.lower()]
        return value

    def setdefault(self, name, value):
        if name not in self:
            self[name] = value
        return self[name]

    def update(self, fields):
        for name, value in Headers(fields).items():
            self[name] = value

    def __contains__(self, name):
        return self.get(name) is not None

    def keys(self):
        return [name for name, _ in self.items()]

    def values(self):
        return [value for _, value in self.items()]

    def items(self):
        merged = {}
        for name, value in self._pairs:
            name = name.lower()
            merged[name] = merged[name] + ", " + value if name in merged else value
        return list(merged.items())

    def pairs(self):
        return list(self._pairs)

    multi_items = pairs

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def __repr__(self):
        return "Headers(" + repr({name: value for name, value in self.items()}) + ")"


def url_with(url, params):
    """A URL with further parameters."""
    if not params:
        return str(url)
    if not isinstance(params, (str, bytes)):
        pairs = params.items() if hasattr(params, "items") else params
        params = urlencode([(name, _shown(value)) for name, value in pairs if value is not None], True)
    elif isinstance(params, bytes):
        params = params.decode()
    url, mark, fragment = str(url).partition("#")
    return url + ("&" if "?" in url else "?") + params + mark + fragment


def _shown(value):
    if isinstance(value, (list, tuple)):
        return [_shown(v) for v in value]
    return ("true" if value else "false") if isinstance(value, bool) else value


def body_of(headers, json=None, data=None, content=None, files=None):
    """The bytes that are sent; their type is put into headers."""
    if files:
        raise NotImplementedError("files are not sent in forms: send the content of one with content or data")
    if json is not None:
        headers.setdefault("Content-Type", "application/json")
        return dumps(json, separators=(",", ":"), ensure_ascii=False).encode()
    if hasattr(data, "items") or isinstance(data, list):
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        return urlencode(data, True).encode()
    body = data if content is None else content
    return body.encode() if isinstance(body, str) else body


def authorize(headers, auth):
    """Puts name and password of Basic authentication into headers."""
    if auth is not None and isinstance(auth, (tuple, list)):
        pair = auth[0] + ":" + auth[1]
        headers["Authorization"] = "Basic " + b64encode(pair.encode()).decode()


def cookies_of(headers, cookies):
    if cookies:
        headers["Cookie"] = "; ".join([name + "=" + value for name, value in cookies.items()])


class Answer:
    """The answer of a server. Its body is read when it is needed."""

    def __init__(self, answer, method):
        self._answer = answer
        self._content = None
        self.method = method
        self.status_code = answer.status
        self.headers = Headers(answer.headers)
        self.reason = REASONS.get(answer.status, "")

    @property
    def content(self):
        if self._content is None:
            self._content = self._answer.content
        return self._content

    def parts(self):
        """Yields the body piece by piece."""
        if self._content is not None:
            yield self._content
            return
        self._content = b""
        yield from self._answer.chunks()

    def charset(self):
        for part in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = part.strip().partition("=")
            if name.lower() == "charset":
                return value.strip("\"'")
        return None

    def text(self, encoding=None):
        try:
            return decode(self.content, encoding or self.charset() or "utf-8", "replace")
        except LookupError:
            return decode(self.content, "utf-8", "replace")

    def json(self, **options):
        return loads(self.content, **options)

    def failure(self):
        """What the client is told when the provider does not catch a status that is an error."""
        try:
            self._answer.check()
        except Failure as failure:
            return failure
        return None


def lines_of(parts):
    """Yields lines of the text that parts are pieces of."""
    rest = b""
    for part in parts:
        found = (rest + part).split(b"\n")
        rest = found.pop()
        for line in found:
            yield str(line.rstrip(b"\r"), "utf-8", "replace")
    if rest:
        yield str(rest.rstrip(b"\r"), "utf-8", "replace")


def send(method, url, headers, body, timeout, error_of):
    """Sends a request. error_of(kind, message, failure) gives the error that stands for a failure, whose kind is denied,
    timeout, connect or protocol."""
    seconds = timeout if isinstance(timeout, (int, float)) else None
    try:
        return Answer(fetch(url, method=method, headers=headers.pairs(), body=body, timeout=seconds), method)
    except Failure as failure:
        kind = {abi.CODE_DENIED: "denied", abi.CODE_DEADLINE: "timeout", abi.CODE_UNAVAILABLE: "connect"}
        message = method + " " + url + ": " + str(failure.message)[len("fetch: ") :]
        told = failure_of(failure.code, failure.message)
        raised = error_of(kind.get(failure.code, "protocol"), message, told)
    raise raised
