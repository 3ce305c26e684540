"""What services of the host are asked. The shapes of messages are those of engine/message.c."""

import _wasmres_service as service

from . import abi
from .failure import failure_of

taken = service.taken

_USUALLY = {
    abi.CODE_DENIED: "it is not granted",
    abi.CODE_UNAVAILABLE: "it may work later",
    abi.CODE_CANCELLED: "the client no longer waits for it",
    abi.CODE_DEADLINE: "it has taken too long",
    abi.CODE_TOO_LARGE: "it is larger than granted",
}


def ask(number, asked, answered, fields, what, why=None):
    """Returns the fields that a service answers. Another code than ok is raised, with what was asked for and why."""
    answer = service.call(number, asked, fields, answered)
    if isinstance(answer, int):
        fail(answer, what, why)
    return answer


def fail(code, what, why=None):
    reason = (why or {}).get(code) or _USUALLY.get(code, "the host failed")
    raise failure_of(code, what + ": " + reason)


def expect(consistent, what):
    """Raises when an answer contradicts itself."""
    if not consistent:
        fail(abi.CODE_INTERNAL, what)


def bytes_of(value):
    """What a service is handed: a str is sent as UTF-8."""
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return value
    raise TypeError("a str or bytes is needed, not " + type(value).__name__)
