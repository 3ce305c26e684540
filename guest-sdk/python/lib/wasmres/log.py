"""The log of the operator, which clients never see. print writes to it, too, a line at the level info."""

import _wasmres_service as service

from . import abi


class _Log:
    def debug(self, *values):
        service.log(abi.LOG_DEBUG, _line(values))

    def info(self, *values):
        service.log(abi.LOG_INFO, _line(values))

    def warning(self, *values):
        service.log(abi.LOG_WARN, _line(values))

    warn = warning

    def error(self, *values):
        service.log(abi.LOG_ERROR, _line(values))


def _line(values):
    return " ".join([str(v) for v in values])


log = _Log()
