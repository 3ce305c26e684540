"""Files of real directories."""

import os
import stat

from .. import abi


class Files:
    def __init__(self, dirs, write_dirs):
        self._dirs = {path.rstrip("/"): os.path.realpath(real) for path, real in {**dirs, **write_dirs}.items()}
        self._writable = [path.rstrip("/") for path in write_dirs]

    def _real(self, path, write=False):
        """The real path of a granted one, or a code."""
        fitting = [granted for granted in self._dirs if path == granted or path.startswith(granted + "/")]
        if not fitting:
            return abi.CODE_DENIED
        granted = max(fitting, key=len)
        if write and granted not in self._writable:
            return abi.CODE_DENIED
        root = self._dirs[granted]
        real = os.path.realpath(root + path[len(granted) :])
        return real if real == root or real.startswith(root.rstrip("/") + "/") else abi.CODE_NOT_FOUND

    def real_path(self, path):
        """The real path of a granted one, or None."""
        real = self._real(path)
        return None if isinstance(real, int) else real

    def stat(self, path, *_):
        return self._at(path, lambda real: ([_describe(real)], None))

    def read(self, path, offset, length, *_):
        def part(real):
            if os.path.isdir(real):
                return abi.CODE_INVALID_PARAMS
            with open(real, "rb") as file:
                file.seek(offset or 0)
                return ([_describe(real)], None), file.read(length)

        return self._at(path, part)

    def list(self, path, _offset, _length, after, *_):
        def entries(real):
            names = sorted(name for name in os.listdir(real) if not after or name > after)
            return [_describe(os.path.join(real, name)) for name in names], None

        return self._at(path, entries)

    def write(self, path, _offset, _length, _after, data, append):
        def put(real):
            with open(real, "ab" if append else "wb") as file:
                file.write(data.encode() if isinstance(data, str) else bytes(data or b""))
            return [_describe(real)], None

        return self._at(path, put, write=True)

    def remove(self, path, *_):
        def drop(real):
            (os.rmdir if os.path.isdir(real) else os.remove)(real)
            return None, None

        return self._at(path, drop, write=True)

    def _at(self, path, use, write=False):
        real = self._real(path, write)
        if isinstance(real, int):
            return real
        try:
            return use(real)
        except FileNotFoundError:
            return abi.CODE_NOT_FOUND
        except (IsADirectoryError, NotADirectoryError):
            return abi.CODE_INVALID_PARAMS
        except OSError:
            return abi.CODE_DENIED


def _describe(real):
    found = os.stat(real)
    is_dir = stat.S_ISDIR(found.st_mode)
    return os.path.basename(real), 0 if is_dir else found.st_size, found.st_mtime_ns // 1_000_000, is_dir
