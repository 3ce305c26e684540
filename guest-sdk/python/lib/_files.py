"""The builtin open. A file is read to memory when it is opened; what is written reaches the host with close or flush."""

import _fs
from _encodings import decode, encode
from uio import BytesIO, StringIO


def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    """Opens a file of a granted folder, by its path as the provider sees it."""
    kind, binary = _kind_of(mode)
    for name, value in (("encoding", encoding), ("errors", errors), ("newline", newline)):
        if binary and value is not None:
            raise ValueError("binary mode doesn't take an " + name + " argument")
    if kind != "r":
        if kind == "x" and _fs.found(file):
            raise _fs.exists_already(file)
        return _Writer(file, mode, kind == "a", None if binary else encoding or "utf-8", errors or "strict", newline)
    data = _fs.read(file)
    if binary:
        return _Reader(BytesIO(data), file, mode)
    text = decode(data, encoding or "utf-8", errors or "strict")
    if newline is None and "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _Reader(StringIO(text), file, mode)


def _kind_of(mode):
    kinds = [c for c in mode if c in "rwax"]
    if len(kinds) != 1 or [c for c in mode if c not in "rwaxbt+"] or ("b" in mode and "t" in mode):
        raise ValueError("invalid mode: '" + mode + "'")
    if "+" in mode:
        raise ValueError("mode '" + mode + "': a file is opened for reading or for writing, not for both")
    return kinds[0], "b" in mode


class _File:
    def __init__(self, stream, path, mode):
        self._stream = stream
        self.name = path
        self.mode = mode
        self.closed = False
        self.seek = stream.seek
        self.tell = stream.tell

    def readable(self):
        return False

    def writable(self):
        return False

    def seekable(self):
        return True

    def flush(self):
        pass

    def fileno(self):
        raise ValueError("a file of the host has no number here")

    def isatty(self):
        return False

    def close(self):
        if not self.closed:
            self.flush()
            self.closed = True
            self._stream.close()

    def __enter__(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        return self

    def __exit__(self, kind, error, traceback):
        self.close()


class _Reader(_File):
    def __init__(self, stream, path, mode):
        super().__init__(stream, path, mode)
        self.readline = stream.readline
        self._read = stream.read

    def read(self, size=-1):
        return self._read() if size is None or size < 0 else self._read(size)

    def readable(self):
        return True

    def write(self, data):
        raise ValueError("not writable")

    def readlines(self, hint=-1):
        return list(self._stream)

    def readinto(self, buffer):
        return self._stream.readinto(buffer)

    def __iter__(self):
        return iter(self._stream)

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line


class _Writer(_File):
    def __init__(self, path, mode, appends, encoding, errors, newline):
        super().__init__(BytesIO(), path, mode)
        self.encoding = encoding
        self._errors = errors
        self._newline = newline
        self._appends = appends
        self._fresh = True  # nothing has reached the host
        self._waiting = 0  # bytes

    def writable(self):
        return True

    def read(self, size=-1):
        raise ValueError("not readable")

    readline = readlines = read

    def write(self, data):
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        length = len(data)
        if self.encoding is None:
            if isinstance(data, str):
                raise TypeError("a bytes-like object is required, not 'str'")
        elif not isinstance(data, str):
            raise TypeError("write() argument must be str, not " + type(data).__name__)
        else:
            if self._newline == "\r\n":
                data = data.replace("\n", "\r\n")
            data = encode(data, self.encoding, self._errors)
        self._stream.write(data)
        self._waiting += len(data)
        if self._waiting >= _fs.PIECE:
            self.flush()
        return length

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        if self._waiting or self._fresh:
            _fs.write(self.name, self._stream.getvalue(), self._appends or not self._fresh)
            self._stream = BytesIO()
            self._waiting, self._fresh = 0, False
