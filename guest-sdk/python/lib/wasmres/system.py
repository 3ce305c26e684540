"""The module sys, with what the interpreter's lacks."""

import builtins
import sys
from ucollections import namedtuple

_print = builtins.print


class _Output:
    """A stream of text to the operator's log, line by line, as print."""

    encoding, errors, name, mode, closed = "utf-8", "strict", "<log>", "w", False

    def write(self, text):
        _print(text, end="")
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def isatty(self):
        return False

    def writable(self):
        return True

    def reconfigure(self, **_):
        pass


class _System:
    def __init__(self):
        for name in dir(sys):
            setattr(self, name, getattr(sys, name))
        self.stdout = self.stderr = self.__stdout__ = self.__stderr__ = _Output()
        self.stdin = None
        self.argv = ["provider.py"]
        # Of the language and of the library there is what this version has, but for what docs/languages/python.md names.
        version = namedtuple("version_info", ("major", "minor", "micro", "releaselevel", "serial"))
        self.version_info = version(3, 11, 0, "final", 0)
        self.executable = self.prefix = ""
        self.flags = None
        self.maxunicode = 0x10FFFF

    def getrecursionlimit(self):
        return 280

    def setrecursionlimit(self, limit):
        pass

    def getdefaultencoding(self):
        return "utf-8"

    getfilesystemencoding = getdefaultencoding

    def getsizeof(self, value, default=0):
        return default

    def intern(self, text):
        return text

    def __repr__(self):
        return "<module 'sys' (built-in)>"


system = _System()
