"""The log of the operator, by the names of the standard library. Records reach it whatever handlers there are; --log-level
of wasmres says which are shown."""

import _wasmres_service as service

from wasmres import abi

CRITICAL, ERROR, WARNING, INFO, DEBUG, NOTSET = 50, 40, 30, 20, 10, 0
FATAL, WARN = CRITICAL, WARNING
BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"
_NAMES = {CRITICAL: "CRITICAL", ERROR: "ERROR", WARNING: "WARNING", INFO: "INFO", DEBUG: "DEBUG", NOTSET: "NOTSET"}
_disabled = NOTSET


def getLevelName(level):
    if isinstance(level, str):
        for number, name in _NAMES.items():
            if name == level:
                return number
        return "Level " + level
    return _NAMES.get(level, "Level " + str(level))


def getLevelNamesMapping():
    return {name: number for number, name in _NAMES.items()}


def addLevelName(level, name):
    _NAMES[level] = name


def disable(level=CRITICAL):
    global _disabled
    _disabled = level


def _number(level):
    if isinstance(level, str):
        number = getLevelName(level)
        if isinstance(number, str):
            raise ValueError("Unknown level: " + repr(level))
        return number
    return level


class LogRecord:
    def __init__(self, name, level, msg, args, exc_info=None, extra=None):
        self.name, self.levelno, self.levelname = name, level, getLevelName(level)
        self.msg, self.args, self.exc_info = msg, args, exc_info
        self.pathname = self.filename = self.funcName = ""
        self.module, self.lineno, self.exc_text = name, 0, None
        for key, value in (extra or {}).items():
            setattr(self, key, value)

    @property
    def created(self):
        from time import time

        return time()

    def getMessage(self):
        text = str(self.msg)
        if not self.args:
            return text
        if len(self.args) == 1 and isinstance(self.args[0], dict) and "%(" in text:
            return text % self.args[0]
        return text % self.args


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return not self.name or record.name == self.name or record.name.startswith(self.name + ".")


class Formatter:
    def __init__(self, fmt=None, datefmt=None, style="%", validate=True, *, defaults=None):
        self._fmt = fmt or "%(message)s"
        self.datefmt = datefmt

    def formatTime(self, record, datefmt=None):
        from time import gmtime, strftime

        return strftime(datefmt or "%Y-%m-%d %H:%M:%S", gmtime(record.created))

    def format(self, record):
        values = dict(record.__dict__)
        values["message"] = record.getMessage()
        if "%(asctime)" in self._fmt:
            values["asctime"] = self.formatTime(record, self.datefmt)
        return self._fmt % values


class Handler:
    def __init__(self, level=NOTSET):
        self.level = _number(level)
        self.formatter = None
        self.filters = []

    def setLevel(self, level):
        self.level = _number(level)

    def setFormatter(self, formatter):
        self.formatter = formatter

    def addFilter(self, filter):
        self.filters.append(filter)

    def removeFilter(self, filter):
        self.filters.remove(filter)

    def format(self, record):
        return (self.formatter or Formatter()).format(record)

    def handle(self, record):
        if record.levelno >= self.level and all([_passes(f, record) for f in self.filters]):
            self.emit(record)

    def emit(self, record):
        """Does nothing: the operator's log has the record."""

    def flush(self):
        pass

    def close(self):
        pass


def _passes(filter, record):
    return filter.filter(record) if hasattr(filter, "filter") else filter(record)


class NullHandler(Handler):
    pass


class StreamHandler(Handler):
    def __init__(self, stream=None):
        super().__init__()
        self.stream = stream

    def emit(self, record):
        if hasattr(self.stream, "getvalue"):  # a stream in memory; others are the operator's log
            self.stream.write(self.format(record) + "\n")


class FileHandler(Handler):
    """Takes the name of a file and writes none: the operator's log has all records."""

    def __init__(self, filename=None, mode="a", encoding=None, delay=False, errors=None, **_):
        super().__init__()


class Logger:
    def __init__(self, name, level=NOTSET):
        self.name = name
        self.level = level
        self.parent = None
        self.handlers, self.filters = [], []
        self.propagate, self.disabled = True, False

    def setLevel(self, level):
        self.level = _number(level)

    def getEffectiveLevel(self):
        logger = self
        while logger:
            if logger.level:
                return logger.level
            logger = logger.parent
        return NOTSET

    def isEnabledFor(self, level):
        return not self.disabled and level > _disabled and level >= self.getEffectiveLevel()

    def log(self, level, msg, *args, exc_info=None, stack_info=False, stacklevel=1, extra=None):
        if not self.isEnabledFor(level):
            return
        record = LogRecord(self.name, level, msg, args, exc_info, extra)
        for filter in self.filters:
            if not _passes(filter, record):
                return
        text = record.getMessage()
        text = self.name + ": " + text if self.name != "root" else text
        service.log(_host_level(level), text)
        if exc_info:
            _report(exc_info)
        logger = self
        while logger:
            for handler in logger.handlers:
                handler.handle(record)
            logger = logger.parent if logger.propagate else None

    def debug(self, msg, *args, **named):
        self.log(DEBUG, msg, *args, **named)

    def info(self, msg, *args, **named):
        self.log(INFO, msg, *args, **named)

    def warning(self, msg, *args, **named):
        self.log(WARNING, msg, *args, **named)

    warn = warning

    def error(self, msg, *args, **named):
        self.log(ERROR, msg, *args, **named)

    def critical(self, msg, *args, **named):
        self.log(CRITICAL, msg, *args, **named)

    fatal = critical

    def exception(self, msg, *args, exc_info=True, **named):
        self.log(ERROR, msg, *args, exc_info=exc_info, **named)

    def addHandler(self, handler):
        if handler not in self.handlers:
            self.handlers.append(handler)

    def removeHandler(self, handler):
        if handler in self.handlers:
            self.handlers.remove(handler)

    def hasHandlers(self):
        return bool(self.handlers or (self.parent and self.parent.hasHandlers()))

    def addFilter(self, filter):
        self.filters.append(filter)

    def removeFilter(self, filter):
        self.filters.remove(filter)

    def getChild(self, suffix):
        return getLogger(suffix if self.name == "root" else self.name + "." + suffix)

    def __repr__(self):
        return "<Logger " + self.name + " (" + getLevelName(self.getEffectiveLevel()) + ")>"


class LoggerAdapter:
    def __init__(self, logger, extra=None):
        self.logger, self.extra = logger, extra

    def process(self, msg, named):
        named["extra"] = self.extra
        return msg, named

    def log(self, level, msg, *args, **named):
        msg, named = self.process(msg, named)
        self.logger.log(level, msg, *args, **named)

    def debug(self, msg, *args, **named):
        self.log(DEBUG, msg, *args, **named)

    def info(self, msg, *args, **named):
        self.log(INFO, msg, *args, **named)

    def warning(self, msg, *args, **named):
        self.log(WARNING, msg, *args, **named)

    def error(self, msg, *args, **named):
        self.log(ERROR, msg, *args, **named)

    def critical(self, msg, *args, **named):
        self.log(CRITICAL, msg, *args, **named)

    def exception(self, msg, *args, **named):
        self.log(ERROR, msg, *args, exc_info=True, **named)


def _report(exc_info):
    """Logs an error with its traceback."""
    import sys

    import _wasmres_engine as engine

    error = exc_info if isinstance(exc_info, BaseException) else exc_info[1] if isinstance(exc_info, tuple) else sys.exc_info()[1]
    if error is not None:
        engine.report(error)


def _host_level(level):
    if level < INFO:
        return abi.LOG_DEBUG
    if level < WARNING:
        return abi.LOG_INFO
    return abi.LOG_WARN if level < ERROR else abi.LOG_ERROR


root = Logger("root")
_loggers = {}


def getLogger(name=None):
    if not name or name == "root":
        return root
    if name not in _loggers:
        logger = _loggers[name] = Logger(name)
        above = name.rpartition(".")[0]
        logger.parent = getLogger(above) if above else root
    return _loggers[name]


def getLoggerClass():
    return Logger


def basicConfig(*, level=None, handlers=None, **_):
    """Takes a level, and handlers; how records look is the operator's to choose."""
    if level is not None:
        root.setLevel(level)
    for handler in handlers or ():
        root.addHandler(handler)


def captureWarnings(capture):
    pass


def shutdown(*_):
    pass


debug, info, warning, warn, error = root.debug, root.info, root.warning, root.warning, root.error
critical = fatal = root.critical
exception, log = root.exception, root.log
