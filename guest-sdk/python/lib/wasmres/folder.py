"""Folders, answered as their files."""

from . import abi
from .content import Blob, Text
from .failure import Denied, Invalid, NotFound
from .out import json_of
from .service import expect, taken

_MAX_ENTRIES = 10000  # that are looked at
_MAX_NAMES = 10  # of files left out that are told
_READ = 64 << 10  # bytes that are fetched at once
_HEAD = 1 << 10  # bytes that the type is told by
_UNESCAPED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
_BINARY = ("application/gzip", "application/pdf", "application/wasm", "application/zip")


class Folder:
    """What a handler answers a read of a folder with: one content for each file, by name. Each is read when its turn has
    come. A further content says what was left out."""

    def __init__(self, directory, name, uri_prefix, max_files=100, max_bytes=1 << 20, hidden=False, mime_type=None):
        if not isinstance(uri_prefix, str):
            raise TypeError("folder: the second parameter is not a URI")
        if not (max_files > 0 and max_bytes > 0):
            raise ValueError("folder: max_files and max_bytes are above zero")
        self._directory = directory
        self._name = name
        self._prefix = uri_prefix
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._mime_type = mime_type
        self._files = _Files(directory, name, hidden)

    def read_contents(self):
        left = _LeftOut()
        files = size = 0
        for info in self._files:
            path = info.name if self._name == "." else self._name + "/" + info.name
            room = self._max_bytes - size
            uri = None if _unwritable(path) else self._prefix + _escaped(path)
            if _unwritable(path):
                left.add("name", info)
            elif files >= self._max_files:
                left.add("maxFiles", info)
            elif info.size > room:
                left.add("maxBytes", info)
            elif len(uri) > abi.MAX_URI:
                left.add("name", info)
            else:
                found = self._read(path, room, info, left)
                if found:
                    files += 1
                    size += len(found[0])
                    yield self._content(info.name, uri, *found)
        more = self._files.more
        if files > 0 and left.files == 0 and not more:
            return
        meta = {"folder": {"files": files, "bytes": size}}
        if left.files or more:
            meta["folder"]["leftOut"] = left.meta(more)
        yield Text(left.text(more), "text/plain", meta=meta)

    def _read(self, path, room, info, left):
        """A file's bytes and how the host described it then; None when it is left out."""
        data = bytearray()
        while True:
            length = min(_READ, room - len(data) + 1)
            try:
                found = self._directory.read_part(path, len(data), length)
            except (NotFound, Invalid):
                return left.add("gone", info)
            except Denied:
                return left.add("denied", info)
            part = taken(length)
            data += part
            if len(data) > room:
                return left.add("maxBytes", info)
            if not part or (found.size and len(data) >= found.size):
                return bytes(data), found

    def _content(self, name, uri, data, info):
        text = _is_text(data)
        mime_type = self._mime_type(name, data[:_HEAD], text) if self._mime_type else None
        mime_type = mime_type or ("text/plain" if text else "application/octet-stream")
        kind = Text if text and not _is_binary(mime_type) else Blob
        return kind(data, mime_type, uri=uri, etag=info.etag, last_modified=info.last_modified)


class _Files:
    """The files of a folder one by one. When all are given, more says whether there are entries that were not looked
    at."""

    def __init__(self, directory, name, hidden):
        self._directory = directory
        self._name = name
        self._hidden = hidden
        self._last = ""
        self._fetch()

    def _fetch(self):
        self._page, self.more = self._directory.page(self._name, self._last)
        last = self._page[-1].name if self._page else ""
        expect(last != self._last if self._page else not self.more, self._name)  # it would go on for ever
        self._last = last

    def __iter__(self):
        seen = 0
        while True:
            for info in self._page:
                seen += 1
                if seen > _MAX_ENTRIES:
                    self.more = True
                    return
                if info.name and not info.is_dir and (self._hidden or not info.name.startswith(".")):
                    yield info
            if not self.more or seen == _MAX_ENTRIES:
                return
            self._fetch()


class _LeftOut:
    """What is not answered of a folder."""

    def __init__(self):
        self.files = 0
        self.bytes = 0
        self.names = []
        self.reasons = {}

    def add(self, reason, info):
        self.files += 1
        self.bytes += info.size
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        if reason != "name" and len(self.names) < _MAX_NAMES:
            self.names.append(info.name)

    def text(self, more):
        if self.files == 0 and not more:
            return "No files."
        text = "Files left out: " + ("more than " if more else "") + str(self.files) + " (" + str(self.bytes) + " bytes)"
        if self.names:
            text += ", among them " + ", ".join([json_of(name) for name in self.names])
        return text

    def meta(self, more):
        found = {"files": self.files, "bytes": self.bytes}
        if more:
            found["more"] = True
        found["names"] = self.names
        found["reasons"] = self.reasons
        return found


def version_of(directory, name, hidden):
    """An etag of the files of a folder, their sizes and their times."""
    low, high = 0x811C9DC5, 0x01000193  # two sums by FNV-1a
    for info in _Files(directory, name, hidden):
        for byte in (info.name + "\0" + str(info.size) + "\0" + str(info.milliseconds) + "\0").encode():
            low = (low ^ byte) * 0x01000193 & 0xFFFFFFFF
            high = (high ^ (byte + 1)) * 0x01000193 & 0xFFFFFFFF
    return "%x-%x" % (high, low)


def _unwritable(path):
    """Whether a name has control characters, or what else cannot stand in a URI, not even encoded."""
    return any([c < " " or "\x7f" <= c <= "\x9f" or c == "\\" for c in path])


def _escaped(path):
    return "".join([chr(b) if chr(b) in _UNESCAPED else "%%%02X" % b for b in path.encode()])


def _is_text(data):
    if b"\0" in data:
        return False
    try:
        str(data, "utf-8")
    except UnicodeError:
        return False
    return True


def _is_binary(mime_type):
    top = mime_type.split("/")[0]
    return top in ("audio", "font", "video") or (top == "image" and mime_type != "image/svg+xml") or mime_type in _BINARY
