"""How requests fail."""

from _builtins import _OSError


class RequestException(_OSError):
    """failure is what the client is told of an error that the provider does not catch."""

    def __init__(self, *args, response=None, request=None):
        super().__init__(*args)
        self.response = response
        self.request = request


class HTTPError(RequestException):
    pass


class ConnectionError(RequestException):
    pass


class SSLError(ConnectionError):
    pass


class ProxyError(ConnectionError):
    pass


class Timeout(RequestException):
    pass


class ConnectTimeout(ConnectionError):
    pass


class ReadTimeout(Timeout):
    pass


class TooManyRedirects(RequestException):
    pass


class InvalidURL(RequestException):
    pass


class MissingSchema(RequestException):
    pass


class ChunkedEncodingError(RequestException):
    pass


class InvalidJSONError(RequestException):
    pass


class JSONDecodeError(InvalidJSONError):
    pass
