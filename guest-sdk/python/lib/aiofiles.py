"""Files of granted folders, with methods to await. Each has ended when it returns."""

from _files import open as _open


class _File:
    def __init__(self, *args, **named):
        self._arguments = args, named
        self._file = None

    def _opened(self):
        if self._file is None:
            args, named = self._arguments
            self._file = _open(*args, **named)
        return self._file

    def __await__(self):
        self._opened()
        return self
        yield

    __iter__ = __await__  # of an awaited object in MicroPython

    async def __aenter__(self):
        self._opened()
        return self

    async def __aexit__(self, *_):
        self._file.close()

    def __aiter__(self):
        return self

    async def __anext__(self):
        line = self._file.readline()
        if not line:
            raise StopAsyncIteration
        return line

    async def read(self, size=-1):
        return self._opened().read(size)

    async def readline(self):
        return self._opened().readline()

    async def readlines(self):
        return self._opened().readlines()

    async def write(self, data):
        return self._opened().write(data)

    async def writelines(self, lines):
        self._opened().writelines(lines)

    async def seek(self, *args):
        return self._opened().seek(*args)

    async def tell(self):
        return self._opened().tell()

    async def flush(self):
        self._opened().flush()

    async def close(self):
        self._opened().close()


def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **_):
    return _File(file, mode, buffering, encoding, errors, newline)
