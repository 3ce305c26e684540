"""Files of the folders that the operator has granted, and variables of the environment."""

import _fs
from _fs import fspath

from . import path
from .environment import environ, getenv, putenv, unsetenv

name = "posix"
sep, altsep, extsep, pathsep = "/", None, ".", ":"
linesep, devnull, curdir, pardir = "\n", "/dev/null", ".", ".."
F_OK, R_OK, W_OK, X_OK = 0, 4, 2, 1
error = OSError


class PathLike:
    pass


class stat_result:
    """What is known of a file: its size, and when it was changed."""

    def __init__(self, info):
        self.st_mode = 0o040755 if info.is_dir else 0o100644
        self.st_size = info.size
        self.st_mtime = self.st_atime = self.st_ctime = info.modified
        self.st_mtime_ns = self.st_atime_ns = self.st_ctime_ns = info.milliseconds * 1000000
        self.st_ino = self.st_dev = self.st_uid = self.st_gid = 0
        self.st_nlink = 1

    def __getitem__(self, i):
        return (self.st_mode, 0, 0, 1, 0, 0, self.st_size, int(self.st_atime), int(self.st_mtime), int(self.st_ctime))[i]

    def __len__(self):
        return 10


def stat(path, *, dir_fd=None, follow_symlinks=True):
    return stat_result(_fs.stat(path))


lstat = stat


def listdir(path="."):
    return [info.name for info in _fs.entries(path)]


class DirEntry:
    def __init__(self, folder, info):
        self.name = info.name
        self.path = path.join(folder, info.name)
        self._info = info

    def is_dir(self, *, follow_symlinks=True):
        return self._info.is_dir

    def is_file(self, *, follow_symlinks=True):
        return not self._info.is_dir

    def is_symlink(self):
        return False

    def stat(self, *, follow_symlinks=True):
        return stat_result(self._info)

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return "<DirEntry " + repr(self.name) + ">"


class _Scan:
    def __init__(self, folder):
        self._entries = iter([DirEntry(folder, info) for info in _fs.entries(folder)])

    def __iter__(self):
        return self._entries

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def close(self):
        pass


def scandir(path="."):
    return _Scan(fspath(path))


def walk(top, topdown=True, onerror=None, followlinks=False):
    """Yields path, folders and files of each folder."""
    top = fspath(top)
    try:
        found = _fs.entries(top)
    except OSError as failed:
        if onerror:
            onerror(failed)
        return
    folders = [info.name for info in found if info.is_dir]
    files = [info.name for info in found if not info.is_dir]
    if topdown:
        yield top, folders, files
    for folder in folders:
        yield from walk(path.join(top, folder), topdown, onerror)
    if not topdown:
        yield top, folders, files


def makedirs(name, mode=0o777, exist_ok=False):
    """Does nothing where there is nothing of that name: the host makes folders when a file is written in them."""
    info = _fs.found(name)
    if info and not (exist_ok and info.is_dir):
        raise _fs.exists_already(name)


def mkdir(path, mode=0o777):
    makedirs(path)


def remove(path):
    if _fs.stat(path).is_dir:
        raise _fs.is_a_directory(path)
    _fs.remove(path)


unlink = remove


def rmdir(path):
    if not _fs.stat(path).is_dir:
        raise _fs.not_a_directory(path)
    _fs.remove(path)


def replace(src, dst):
    """Writes a file to another name and removes it."""
    _fs.write(dst, _fs.read(src))
    _fs.remove(src)


rename = replace


def access(path, mode):
    return not mode & X_OK and _exists(path)


_exists = path.exists


def getcwd():
    return "/"


def getpid():
    return 1


def cpu_count():
    return 1


def urandom(size):
    from random import getrandbits

    return bytes([getrandbits(8) for _ in range(size)])


def fsencode(path):
    return fspath(path).encode()


def fsdecode(path):
    return fspath(path)


def strerror(code):
    return {1: "Operation not permitted", 2: "No such file or directory", 5: "Input/output error", 13: "Permission denied",
            17: "File exists", 20: "Not a directory", 21: "Is a directory", 22: "Invalid argument", 27: "File too large",
            28: "No space left on device"}.get(code, "Unknown error " + str(code))


def __getattr__(name):
    if name in ("system", "popen", "fork", "execv", "execvp", "spawnv", "kill", "pipe", "chdir", "chmod", "chown", "symlink",
                "link", "open", "read", "write"):
        raise AttributeError("os." + name + " is not to be had in a sandbox: a provider reads and writes granted files with "
                             "open, and has no processes")
    raise AttributeError("module 'os' has no attribute '" + name + "'")
