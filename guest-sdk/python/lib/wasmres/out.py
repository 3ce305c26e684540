"""What an operation sends."""

import ujson as json

import _wasmres_frame as frame
from micropython import const

from . import abi

FLUSH_AT = const(8192)  # bytes of a frame that is sent


class Stopped(Exception):
    """Ends an operation of which the host wants no more."""


_CODES = {
    abi.SIGNAL_CANCELLED: abi.CODE_CANCELLED,
    abi.SIGNAL_DEADLINE: abi.CODE_DEADLINE,
    abi.SIGNAL_TOO_LARGE: abi.CODE_TOO_LARGE,
    abi.SIGNAL_BAD_FRAME: abi.CODE_INTERNAL,
}


def begin():
    frame.stop(abi.SIGNAL_MORE)
    frame.drop()


def check(signal):
    """Raises Stopped when a signal says that the operation is over."""
    if signal != abi.SIGNAL_MORE:
        frame.stop(signal)
        raise Stopped()


def stopped_code():
    """The code of an operation that the host has stopped, whatever the handler made of it; 0 when it has not."""
    signal = frame.stopped()
    if signal == abi.SIGNAL_MORE:
        return abi.CODE_OK
    return _CODES.get(signal, abi.CODE_CANCELLED)


def flush():
    check(frame.emit())


def flush_unless_enough():
    """As flush, where the host may say that it has enough, as of the entries of a list: returns whether it did."""
    signal = frame.emit()
    if signal < abi.SIGNAL_MORE:
        check(signal)
    return signal > abi.SIGNAL_MORE


def body(chunk):
    check(frame.body(chunk))


def end_body():
    check(frame.end_body())


def json_of(value):
    """An object as JSON, None for None."""
    if value is None:
        return None
    try:
        return json.dumps(value)
    except TypeError:
        from .serve import provider

        plain = getattr(provider(), "plain", None)
        if not plain:
            raise
    return json.dumps(plain(value))


def time_of(time):
    """A time as RFC 3339: of what has isoformat, or as it is."""
    if time is None or isinstance(time, str):
        return time
    return time.isoformat()
