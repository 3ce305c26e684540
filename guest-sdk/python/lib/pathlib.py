"""Paths as objects."""

import _fs
import os
from _files import open as _open
from fnmatch import fnmatchcase


class PurePath:
    """A path, without a look at files."""

    def __init__(self, *parts):
        text = os.path.join(*[_fs.fspath(p) for p in parts]) if parts else ""
        self.root = "//" if text.startswith("//") and not text.startswith("///") else "/" if text.startswith("/") else ""
        self._tail = [p for p in text.split("/") if p and p != "."]

    def _made(self, tail):
        made = type(self)()
        made.root = self.root
        made._tail = tail
        return made

    drive = ""

    @property
    def anchor(self):
        return self.root

    @property
    def parts(self):
        return tuple([self.root] + self._tail if self.root else self._tail)

    @property
    def name(self):
        return self._tail[-1] if self._tail else ""

    @property
    def suffix(self):
        name = self.name
        at = name.rfind(".")
        return name[at:] if 0 < at < len(name) - 1 else ""

    @property
    def suffixes(self):
        name = self.name
        if name.endswith("."):
            return []
        return ["." + part for part in name.lstrip(".").split(".")[1:]]

    @property
    def stem(self):
        name, suffix = self.name, self.suffix
        return name[: len(name) - len(suffix)]

    @property
    def parent(self):
        return self._made(self._tail[:-1])

    @property
    def parents(self):
        return tuple([self._made(self._tail[:i]) for i in range(len(self._tail) - 1, -1, -1)])

    def __str__(self):
        return self.root + "/".join(self._tail) or "."

    __fspath__ = as_posix = __str__

    def __repr__(self):
        kind = type(self).__name__
        return ("PosixPath" if kind == "Path" else "PurePosixPath" if kind == "PurePath" else kind) + "(" + repr(str(self)) + ")"

    def __format__(self, spec):
        return ("{:" + spec + "}").format(str(self))

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        return isinstance(other, PurePath) and str(self) == str(other)

    def __lt__(self, other):
        return self.parts < other.parts

    def __le__(self, other):
        return self.parts <= other.parts

    def __gt__(self, other):
        return self.parts > other.parts

    def __ge__(self, other):
        return self.parts >= other.parts

    def __truediv__(self, other):
        return type(self)(self, other)

    def __rtruediv__(self, other):
        return type(self)(other, self)

    def joinpath(self, *others):
        return type(self)(self, *others)

    def is_absolute(self):
        return self.root != ""

    def is_reserved(self):
        return False

    def as_uri(self):
        from urllib.parse import quote

        if not self.root:
            raise ValueError("relative path can't be expressed as a file URI")
        return "file://" + quote(str(self))

    def match(self, pattern):
        wanted = PurePath(pattern)
        if not wanted.parts:
            raise ValueError("empty pattern")
        mine, parts = self.parts, wanted.parts
        if len(parts) > len(mine) or (wanted.root and len(parts) != len(mine)):
            return False
        return all([fnmatchcase(name, part) for name, part in zip(mine[len(mine) - len(parts) :], parts)])

    def relative_to(self, *other):
        base = type(self)(*other)
        if self.root != base.root or self._tail[: len(base._tail)] != base._tail:
            raise ValueError(
                repr(str(self)) + " is not in the subpath of " + repr(str(base))
                + " OR one path is relative and the other is absolute."
            )
        made = self._made(self._tail[len(base._tail) :])
        made.root = ""
        return made

    def is_relative_to(self, *other):
        base = type(self)(*other)
        return self.root == base.root and self._tail[: len(base._tail)] == base._tail

    def with_name(self, name):
        if not self.name:
            raise ValueError(repr(self) + " has an empty name")
        if not name or "/" in name or name == ".":
            raise ValueError("Invalid name " + repr(name))
        return self._made(self._tail[:-1] + [name])

    def with_stem(self, stem):
        return self.with_name(stem + self.suffix)

    def with_suffix(self, suffix):
        if "/" in suffix or (suffix and not suffix.startswith(".")) or suffix == ".":
            raise ValueError("Invalid suffix " + repr(suffix))
        return self.with_name(self.stem + suffix)


PurePosixPath = PurePath


class Path(PurePath):
    """A path of the files that the operator has granted. The current directory is the root."""

    @classmethod
    def cwd(cls):
        return cls("/")

    @classmethod
    def home(cls):
        return cls("/")

    def expanduser(self):
        return self

    def absolute(self):
        return self if self.root else type(self)("/", self)

    def resolve(self, strict=False):
        path = type(self)(_fs.absolute(self))
        if strict:
            path.stat()
        return path

    def readlink(self):
        raise _fs.error(_fs._builtins._OSError, 22, "Invalid argument", self)

    def stat(self, *, follow_symlinks=True):
        return os.stat(self)

    lstat = stat

    def exists(self, *, follow_symlinks=True):
        return self._info() is not None

    def is_file(self):
        info = self._info()
        return info is not None and not info.is_dir

    def is_dir(self):
        info = self._info()
        return info is not None and info.is_dir

    def _info(self):
        try:
            return _fs.stat(self)
        except (OSError, ValueError):
            return None  # also where nothing is granted, as while the provider is built

    def is_symlink(self):
        return False

    is_mount = is_socket = is_fifo = is_block_device = is_char_device = is_symlink

    def samefile(self, other):
        return _fs.absolute(self) == _fs.absolute(other)

    def open(self, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
        return _open(self, mode, buffering, encoding, errors, newline)

    def read_bytes(self):
        return _fs.read(self)

    def read_text(self, encoding=None, errors=None):
        return self.open("r", -1, encoding, errors).read()

    def write_bytes(self, data):
        _fs.write(self, bytes(data))
        return len(data)

    def write_text(self, data, encoding=None, errors=None, newline=None):
        if not isinstance(data, str):
            raise TypeError("data must be str, not " + type(data).__name__)
        with self.open("w", -1, encoding, errors, newline) as file:
            return file.write(data)

    def touch(self, mode=0o666, exist_ok=True):
        if self._info() is None:
            _fs.write(self, b"")
        elif not exist_ok:
            raise _fs.exists_already(self)

    def mkdir(self, mode=0o777, parents=False, exist_ok=False):
        os.makedirs(self, mode, exist_ok)

    def unlink(self, missing_ok=False):
        try:
            os.remove(self)
        except _fs._builtins.FileNotFoundError:
            if not missing_ok:
                raise

    def rmdir(self):
        os.rmdir(self)

    def rename(self, target):
        os.replace(self, target)
        return type(self)(target)

    replace = rename

    def iterdir(self):
        for info in _fs.entries(self):
            yield self._made(self._tail + [info.name])

    def glob(self, pattern):
        parts = PurePath(pattern)
        if parts.root:
            raise NotImplementedError("Non-relative patterns are unsupported")
        if not parts._tail:
            raise ValueError("Unacceptable pattern: " + repr(pattern))
        yield from self._unique(self._matching(parts._tail))

    def rglob(self, pattern):
        yield from self._unique(self._matching(["**"] + PurePath(pattern)._tail))

    def _unique(self, paths):
        seen = set()
        for path in paths:
            text = str(path)
            if text not in seen:
                seen.add(text)
                yield path

    def _matching(self, parts):
        part, rest = parts[0], parts[1:]
        if part == "**":
            yield from self._matching(rest) if rest else (self,)
            for path, info in self._entries():
                if info.is_dir:
                    yield from path._matching(parts)
            return
        if part == ".." or not ("*" in part or "?" in part or "[" in part):
            path = self._made(self._tail + [part])
            if rest:
                yield from path._matching(rest)
            elif path.exists():
                yield path
            return
        for path, info in self._entries():
            if fnmatchcase(info.name, part):
                if not rest:
                    yield path
                elif info.is_dir:
                    yield from path._matching(rest)

    def _entries(self):
        try:
            found = _fs.entries(self)
        except OSError:
            return
        for info in found:
            yield self._made(self._tail + [info.name]), info

    def walk(self, top_down=True, on_error=None, follow_symlinks=False):
        for folder, folders, files in os.walk(self, top_down, on_error):
            yield type(self)(folder), folders, files


PosixPath = Path
