"""Values that last from one request to the next. They belong to the provider alone."""

from . import abi
from .failure import NotFound, Unavailable
from .service import ask, bytes_of, expect, taken

_WHAT = "the key-value store"
_WHY = {
    abi.CODE_INVALID_PARAMS: "that is no key, or the time is too long",
    abi.CODE_TOO_LARGE: "the value, or all of them, would be more than granted",
}
_PAGE = 256  # entries that are listed at once
_UPDATES = 16  # how often update tries


class Conflict(Exception):
    """A value has another version than was asked for, or is there although it should not. entry describes it, or is
    None."""

    def __init__(self, entry):
        super().__init__("the value is not the expected one")
        self.entry = entry


class Entry:
    """Describes a value. expires is in seconds since 1970, None for never; no put has the version of another."""

    def __init__(self, fields):
        key, size, expires, version = fields
        expect(version, _WHAT)
        self.key = key or ""
        self.size = size or 0
        self.expires = expires / 1000 if expires else None
        self.version = version


def _call(service, key=None, value=None, ttl=None, if_version=None, if_absent=None, prefix=None, after=None, limit=None):
    fields = (key, value, ttl, if_version, if_absent, prefix, after, limit)
    entries, more, conflict = ask(service, "sbnn?ssn", "(snnn)??", fields, _WHAT, _WHY)
    return [Entry(e) for e in entries or ()], bool(more), bool(conflict)


class _KV:
    def get(self, key, default=None):
        """A value, bytes."""
        entry, value = self.get_entry(key)
        return value if entry else default

    def get_text(self, key, default=None):
        value = self.get(key)
        return default if value is None else str(value, "utf-8")

    def get_entry(self, key):
        """What describes a value, and the value; None twice when there is none."""
        try:
            entries, _, _ = _call(abi.SERVICE_KV_GET, key)
        except NotFound:
            return None, None
        value = taken(None)
        expect(len(entries) == 1 and entries[0].size == len(value), _WHAT)
        return entries[0], value

    def put(self, key, value, *, ttl=None, if_version=None, if_absent=False):
        """Puts a value, for ttl seconds or for good, and describes it. Raises Conflict when a condition does not hold."""
        milliseconds = None if ttl is None else max(1, int(ttl * 1000))
        entries, _, conflict = _call(abi.SERVICE_KV_PUT, key, bytes_of(value), milliseconds, if_version, if_absent)
        if conflict:
            raise Conflict(entries[0] if entries else None)
        expect(len(entries) == 1, _WHAT)
        return entries[0]

    def update(self, key, change, *, ttl=None):
        """Puts what change makes of a value, or of None. change is called again when the value has changed meanwhile."""
        for _ in range(_UPDATES):
            entry, value = self.get_entry(key)
            try:
                version = entry.version if entry else None
                return self.put(key, change(value), ttl=ttl, if_version=version, if_absent=not entry)
            except Conflict:
                pass
        raise Unavailable(_WHAT + ": others change the value all the time")

    def delete(self, key, *, if_version=None):
        """Removes a value if there is one, or only if it has this version."""
        entries, _, conflict = _call(abi.SERVICE_KV_DELETE, key, if_version=if_version)
        if conflict:
            raise Conflict(entries[0] if entries else None)

    def keys(self, prefix="", after=""):
        """Describes the values whose keys begin with prefix, from the first key behind after on."""
        more = True
        while more:
            entries, more, _ = _call(abi.SERVICE_KV_LIST, prefix=prefix, after=after, limit=_PAGE)
            expect(entries or not more, _WHAT)
            yield from entries
            after = entries[-1].key if entries else ""


kv = _KV()
