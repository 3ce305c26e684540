"""Streams in memory, and open."""

from uio import BytesIO, IOBase, StringIO as _StringIO

SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
DEFAULT_BUFFER_SIZE = 8192

TextIOBase = RawIOBase = BufferedIOBase = TextIOWrapper = BufferedReader = BufferedWriter = FileIO = IOBase
open = open


class UnsupportedOperation(ValueError):
    pass


class StringIO(_StringIO):
    def __init__(self, initial_value="", newline="\n"):
        super().__init__(initial_value)

    def readlines(self, hint=-1):
        return list(self)

    def writelines(self, lines):
        for line in lines:
            self.write(line)
