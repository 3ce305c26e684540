"""The services of the host: each answers the fields of a message, or a code, and bytes beside it. engine/message.c has the
shapes."""

from .. import abi
from .files import Files
from .sql import Databases
from .store import Store
from .web import Web


class Services:
    def __init__(self, client, config, env, dirs, write_dirs, http, sql, kv):
        self._client = client
        self._config = config or {}
        self.env = env or {}
        self._files = Files(dirs or {}, write_dirs or {})
        self._databases = Databases(sql or {})
        self._known = {
            abi.SERVICE_CONFIG: self._configured,
            abi.SERVICE_NOTIFY_UPDATED: self._updated,
            abi.SERVICE_NOTIFY_LIST: self._updated,
            abi.SERVICE_FILE_STAT: self._files.stat,
            abi.SERVICE_FILE_READ: self._files.read,
            abi.SERVICE_FILE_LIST: self._files.list,
            abi.SERVICE_FILE_WRITE: self._files.write,
            abi.SERVICE_FILE_REMOVE: self._files.remove,
            abi.SERVICE_SQL: self._databases.query,
        }
        if http:
            self._known[abi.SERVICE_HTTP] = Web(http).fetch
        if kv is not None:
            store = Store(kv)
            self._known[abi.SERVICE_KV_GET] = store.get
            self._known[abi.SERVICE_KV_PUT] = store.put
            self._known[abi.SERVICE_KV_DELETE] = store.delete
            self._known[abi.SERVICE_KV_LIST] = store.list

    def real_path(self, path):
        """The real path of a granted one, or None."""
        return self._files.real_path(path)

    def database(self, name):
        """The database of a granted name, or of a path that ends with it, or None."""
        return self._databases.named(name)

    def answer(self, number, fields):
        if number not in self._known:
            return abi.CODE_DENIED, b""
        answer = self._known[number](*fields)
        return answer if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], bytes) else (answer, b"")

    def _configured(self, key):
        values, name = (self.env, key[4:]) if key.startswith("env:") else (self._config, key)
        return (values[name],) if name in values else abi.CODE_NOT_FOUND

    def _updated(self, uri):
        self._client.updated.append(uri or "")
        return ()
