"""The log of the operator, by the names of the standard library. Levels are the operator's to choose."""

import _wasmres_service as service

from wasmres import abi

DEBUG, INFO, WARNING, ERROR, CRITICAL = 10, 20, 30, 40, 50


class Logger:
    def __init__(self, name):
        self.name = name

    def log(self, level, message, *args, exc_info=None, **_):
        text = str(message) % args if args else str(message)
        text = self.name + ": " + text if self.name else text
        service.log(_host_level(level), text)

    def debug(self, message, *args, **named):
        self.log(DEBUG, message, *args, **named)

    def info(self, message, *args, **named):
        self.log(INFO, message, *args, **named)

    def warning(self, message, *args, **named):
        self.log(WARNING, message, *args, **named)

    def error(self, message, *args, **named):
        self.log(ERROR, message, *args, **named)

    exception = critical = error

    def setLevel(self, level):
        """Does nothing: --log-level of wasmres says what is shown."""


def _host_level(level):
    if level < INFO:
        return abi.LOG_DEBUG
    if level < WARNING:
        return abi.LOG_INFO
    return abi.LOG_WARN if level < ERROR else abi.LOG_ERROR


_root = Logger("")
debug, info, warning, error = _root.debug, _root.info, _root.warning, _root.error
exception = critical = error


def getLogger(name=""):
    return Logger(name) if name else _root


def basicConfig(**_):
    """Does nothing: the operator configures the log."""
