"""Warnings, which go to the operator's log."""

from wasmres.log import log


def warn(message, category=None, stacklevel=1, source=None):
    if category is None:
        category = type(message) if isinstance(message, Warning) else UserWarning
    log.warning(category.__name__ + ": " + str(message))


def filterwarnings(*_, **__):
    pass


simplefilter = resetwarnings = filterwarnings


class catch_warnings:
    def __init__(self, *, record=False, **_):
        self._record = record

    def __enter__(self):
        return [] if self._record else None

    def __exit__(self, *_):
        pass


def deprecated(message, **_):
    return lambda thing: thing
