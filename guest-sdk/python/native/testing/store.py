"""The key-value store, in a dict."""

import time

from .. import abi


class Store:
    """values has the bytes by key. Versions and times are known of what was put."""

    def __init__(self, values):
        self._values = values
        self._put = {}  # version and when it expires, in milliseconds, by key
        self._last = 0

    def _entry(self, key):
        version, expires = self._put.setdefault(key, (self._version(), None))
        if expires and time.time() * 1000 >= expires:
            self._values.pop(key, None)
        if key not in self._values:
            self._put.pop(key, None)
            return None
        return key, len(self._bytes(key)), expires, version

    def _bytes(self, key):
        value = self._values[key]
        return value.encode() if isinstance(value, str) else bytes(value)

    def _version(self):
        self._last += 1
        return self._last

    def get(self, key, *_):
        entry = self._entry(key)
        return (([entry], None, None), self._bytes(key)) if entry else abi.CODE_NOT_FOUND

    def put(self, key, value, ttl, if_version, if_absent, *_):
        if not key or len(key.encode()) > abi.MAX_KEY:
            return abi.CODE_INVALID_PARAMS
        entry = self._entry(key)
        if self._conflicts(entry, if_version, if_absent):
            return [entry] if entry else None, None, True
        self._values[key] = value.encode() if isinstance(value, str) else bytes(value)
        self._put[key] = self._version(), int(time.time() * 1000) + ttl if ttl else None
        return [self._entry(key)], None, None

    def delete(self, key, _value, _ttl, if_version, *_):
        entry = self._entry(key)
        if self._conflicts(entry, if_version, False):
            return [entry] if entry else None, None, True
        self._values.pop(key, None)
        return None, None, None

    @staticmethod
    def _conflicts(entry, if_version, if_absent):
        return bool(if_absent and entry) or bool(if_version and (not entry or entry[3] != if_version))

    def list(self, _key, _value, _ttl, _if_version, _if_absent, prefix, after, limit):
        keys = sorted(key for key in list(self._values) if key.startswith(prefix or "") and key > (after or ""))
        entries = [entry for entry in map(self._entry, keys) if entry]
        return entries[:limit], len(entries) > limit or None, None
