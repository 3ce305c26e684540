"""Handlers that write files and send records elsewhere, of which the sandbox has neither: they take their options, and the
operator's log has all records."""

from . import FileHandler, Handler

RotatingFileHandler = TimedRotatingFileHandler = WatchedFileHandler = FileHandler


class _Elsewhere(Handler):
    def __init__(self, *_, **__):
        super().__init__()


SysLogHandler = SocketHandler = HTTPHandler = SMTPHandler = MemoryHandler = QueueHandler = _Elsewhere
