"""Files of folders that the operator has granted."""

from . import abi
from .failure import Failure, Invalid
from .folder import Folder, version_of
from .times import base36, rfc3339
from .service import ask, bytes_of, expect, taken

_READ = 64 << 10  # bytes that are fetched at once
_UNKNOWN = 16 << 20  # bytes that are read to memory of a file whose size is told as 0

_WHY = {abi.CODE_NOT_FOUND: "there is no such file", abi.CODE_INVALID_PARAMS: "it is no path of that kind"}
_WHY_WRITE = {
    abi.CODE_NOT_FOUND: "there is no such file",
    abi.CODE_INVALID_PARAMS: "it is no path for a file",
    abi.CODE_TOO_LARGE: "that is more than can be written",
}


class FileInfo:
    """A file or folder. modified is in seconds since 1970, last_modified as RFC 3339."""

    def __init__(self, fields, path):
        name, size, modified, is_dir = fields
        self.name = name or ""
        self.size = size or 0
        self.milliseconds = modified or 0  # since 1970
        self.is_dir = bool(is_dir)

    @property
    def modified(self):
        return self.milliseconds / 1000

    @property
    def last_modified(self):
        return rfc3339(self.milliseconds)

    @property
    def etag(self):
        """Names this version of the file."""
        return base36(self.milliseconds) + "-" + base36(self.size)


def _find(service, path, offset=None, length=None, after=None, data=None, append=None, why=_WHY):
    fields = (path, offset, length, after, data, append)
    files, more = ask(service, "snnsb?", "(snn?)?", fields, path, why)
    return [FileInfo(f, path) for f in files or ()], bool(more)


def stat(path):
    """Describes a file or folder, by its path as the operator granted it."""
    return _one(abi.SERVICE_FILE_STAT, path)


def _one(service, path, **fields):
    files, _ = _find(service, path, **fields)
    expect(len(files) == 1, path)
    return files[0]


def list_folder(path):
    """Yields the entries of a folder, by name."""
    after, more = None, True
    while more:
        files, more = _find(abi.SERVICE_FILE_LIST, path, after=after)
        expect(files or not more, path)
        yield from files
        after = files[-1].name if files else None


def write(path, data, append=False):
    """Writes a file at once, or adds to its end. One call writes close to 1 MiB."""
    return _one(abi.SERVICE_FILE_WRITE, path, data=bytes_of(data), append=append, why=_WHY_WRITE)


def remove(path):
    """Removes a file or an empty folder."""
    files, _ = _find(abi.SERVICE_FILE_REMOVE, path)
    expect(not files, path)


class File:
    """A file that is read piece by piece, as when a handler answers with it."""

    def __init__(self, path):
        info = stat(path)
        if info.is_dir:
            raise Invalid(path + ": it is a folder")
        self.path = path
        self.size = info.size or None  # None where the size is told as 0, as that of files of /proc
        self.modified = info.modified
        self.last_modified = info.last_modified
        self.etag = info.etag

    def chunks(self, start=0, end=None):
        """Yields the bytes from start to end."""
        if end is None:
            end = self.size
        while end is None or start < end:
            length = _READ if end is None else min(_READ, end - start)
            _find(abi.SERVICE_FILE_READ, self.path, offset=start, length=length)
            data = taken(length)
            if not data:
                return  # it has become shorter
            yield data
            start += len(data)

    def read(self):
        """All bytes."""
        whole = bytearray()
        for data in self.chunks():
            whole += data
            if self.size is None and len(whole) > _UNKNOWN:
                raise Failure(self.path + ": it is larger than 16 MiB", code=abi.CODE_TOO_LARGE)
        return bytes(whole)

    def text(self):
        """The bytes as UTF-8."""
        return str(self.read(), "utf-8")


class Dir:
    """A directory that the operator has granted, by its path. Names are relative; "." is the directory itself."""

    def __init__(self, path):
        self._path = path.rstrip("/")

    def _join(self, name):
        return (self._path or "/") if name == "." else self._path + "/" + name

    def stat(self, name):
        return stat(self._join(name))

    def list(self, name="."):
        return list_folder(self._join(name))

    def open(self, name):
        return File(self._join(name))

    def read(self, name):
        return self.open(name).read()

    def read_text(self, name):
        return self.open(name).text()

    def write(self, name, data):
        return write(self._join(name), data)

    def append(self, name, data):
        return write(self._join(name), data, append=True)

    def remove(self, name):
        remove(self._join(name))

    def folder(self, name, uri_prefix, **options):
        """What a handler answers a read of a folder with: one content for each file, under uri_prefix and its path. Options
        are max_files, 100; max_bytes of all, 1 MiB; hidden; and mime_type(name, beginning, is_text)."""
        return Folder(self, name, uri_prefix, **options)

    def folder_version(self, name, *, hidden=False):
        """An etag that differs when a file of the folder comes, goes or changes, for watch."""
        return version_of(self, name, hidden)

    def page(self, name, after):
        """Some entries of a folder behind one, and whether there are more."""
        return _find(abi.SERVICE_FILE_LIST, self._join(name), after=after)

    def read_part(self, name, offset, length):
        """Has the host read a part of a file, and describes the file."""
        return _one(abi.SERVICE_FILE_READ, self._join(name), offset=offset, length=length)
