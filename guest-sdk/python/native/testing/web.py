"""Requests to servers."""

import urllib.error
import urllib.request

from .. import abi


class Web:
    def __init__(self, server):
        self._server = _real if server is True else server

    def fetch(self, method, url, headers, body, max_bytes, timeout):
        body = body.encode() if isinstance(body, str) else bytes(body) if body else b""
        arguments = (method or "GET", url, dict(headers or ()), body)
        try:
            found = self._server(*arguments, timeout=timeout and timeout / 1000) if self._server is _real else self._server(*arguments)
        except TimeoutError:
            return abi.CODE_DEADLINE
        except OSError:
            return abi.CODE_UNAVAILABLE
        status, answered, data = found
        data = data.encode() if isinstance(data, str) else bytes(data)
        if max_bytes and len(data) > max_bytes:
            return abi.CODE_TOO_LARGE
        return (status, list(answered.items()), url, None), data


def _real(method, url, headers, body, timeout=None):
    request = urllib.request.Request(url, data=body or None, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout or 60) as answer:
            return answer.status, dict(answer.headers.items()), answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, dict(answer.headers.items()), answer.read()
