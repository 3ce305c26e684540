"""How urllib.request fails."""

from _builtins import _OSError


class URLError(_OSError):
    """failure is what the client is told of an error that the provider does not catch."""

    def __init__(self, reason, filename=None):
        super().__init__(reason)
        self.reason = reason

    def __str__(self):
        return "<urlopen error " + str(self.reason) + ">"


class HTTPError(URLError):
    """An answer whose status is an error. It is read as an answer."""

    def __init__(self, url, code, msg, hdrs, fp):
        super().__init__(msg)
        self.url, self.code, self.msg, self.headers, self.fp = url, code, msg, hdrs, fp
        self.status = code

    def read(self, *args):
        return self.fp.read(*args)

    def getcode(self):
        return self.code

    def geturl(self):
        return self.url

    def info(self):
        return self.headers

    def close(self):
        pass

    def __str__(self):
        return "HTTP Error " + str(self.code) + ": " + self.msg


class ContentTooShortError(URLError):
    pass
