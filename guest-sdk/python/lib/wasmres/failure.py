"""How a handler fails."""

from . import abi


class Failure(Exception):
    """Ends a request with a message for the client. data is an object for it; retry_after is in seconds."""

    code = abi.CODE_INTERNAL

    def __init__(self, message="", *, code=None, data=None, retry_after=None):
        super().__init__(message)
        self.message = message
        self.data = data
        self.retry_after = retry_after
        if code is not None:
            self.code = code


class NotFound(Failure):
    code = abi.CODE_NOT_FOUND


class Invalid(Failure):
    """The request makes no sense."""

    code = abi.CODE_INVALID_PARAMS


class Denied(Failure):
    code = abi.CODE_DENIED


class Unavailable(Failure):
    """The client may try again later."""

    code = abi.CODE_UNAVAILABLE


_CLASSES = {c.code: c for c in (NotFound, Invalid, Denied, Unavailable)}


def failure_of(code, message):
    """The failure with a code, as a service of the host answers it."""
    if code in _CLASSES:
        return _CLASSES[code](message)
    return Failure(message, code=code if code <= abi.CODE_INTERNAL else abi.CODE_INTERNAL)
