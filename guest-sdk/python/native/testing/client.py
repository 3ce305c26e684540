"""The client."""

import json

from .. import abi
from ..failure import Failure, NotFound
from ..matching import find
from .answer import Answer
from .operation import Operation
from .services import Services

_COMMON = {1: "uri", 2: "name", 3: "title", 4: "description", 5: "mime_type", 6: "size", 7: "priority", 8: "last_modified"}
_AUDIENCE = {abi.AUDIENCE_USER: "user", abi.AUDIENCE_ASSISTANT: "assistant"}


class Client:
    """Reads resources of a provider, which has these grants, and none without:

    config, env   dicts of str
    dirs          directories by the paths of the provider, as {"/texts": "test/texts"}; write_dirs may be written, too
    http          True for real servers, or a function (method, url, headers, body) that returns a status, a dict of headers
                  and bytes
    sql           by connection, the path of an SQLite file or a sqlite3.Connection
    kv            a dict, which has the values

    logs has pairs of level and text, updated the URIs of notify_updated, "" standing for notify_list_changed. A provider's
    Failure is raised; other errors are the cause of one."""

    def __init__(self, app, *, config=None, env=None, dirs=None, write_dirs=None, http=None, sql=None, kv=None):
        self.app = app
        self.logs = []
        self.updated = []
        self.services = Services(self, config, env, dirs, write_dirs, http, sql, kv)

    def read(self, uri, *, range=None, if_none_match=None, max_bytes=None, meta=None, principal=None):
        """Reads a resource, or the part of it that range says, offset and length in bytes. principal is a dict with subject,
        tenant, scopes and claims."""
        fields, ranges = self._route(uri)
        if range and ranges:
            fields.update(_present(range_offset=range[0], range_length=range[1]))
        fields.update(_present(if_none_match=if_none_match, max_bytes=max_bytes, meta=meta and json.dumps(meta)))
        if principal:
            claims = principal.get("claims")
            fields["principal"] = {
                **_present(subject=principal.get("subject"), tenant=principal.get("tenant")),
                "scopes": list(principal.get("scopes", ())),
                **_present(claims=claims and json.dumps(claims)),
            }
        o = self._run(abi.OP_READ, fields)
        if not o.contents:
            raise NotFound(uri)
        if range and len(o.contents) == 1 and o.contents[0].range_total is None:
            o.contents[0].cut(*range)
        progress = [(p.get(1, 0.0), p.get(2), p.get(3)) for p in map(dict, o.all(15))]
        return Answer(o.contents, o.one(10, 0) / 1000, o.one(11, 0) == abi.CACHE_PUBLIC, progress)

    def list(self):
        """All resources, dicts: those that the provider always has, then those that it lists."""
        manifest = self._manifest()
        found = [_entry(fields) for n, fields in manifest if n == 7]
        if not dict(manifest).get(8, 0) >> abi.OP_LIST & 1:
            return found
        return found + self._pages(abi.OP_LIST, {})

    def list_directory(self, uri):
        """The direct children of a directory resource, dicts. An entry that is none is an error, as for the host."""
        found = self._pages(abi.OP_LIST_DIR, self._route(uri)[0])
        for entry in found:
            head, _, name = _normal(entry["uri"]).rpartition("/")
            if head != _normal(uri).rstrip("/") or not name or "?" in name or "#" in name:
                raise Failure(entry["uri"] + " is not a direct child of " + uri)
        return found

    def _pages(self, op, fields):
        """The entries of all pages."""
        found, cursor = [], ""
        while cursor is not None:
            o = self._run(op, {**fields, **_present(cursor=cursor)})
            found += [_entry(fields) for fields in o.all(1)]
            cursor = o.one(4)
        return found

    def templates(self):
        """All templates, dicts."""
        return [_entry(fields) for n, fields in self._manifest() if n == 6]

    def complete(self, template, variable, typed="", **known):
        """What is suggested for a variable of a template. known are variables that have a value already."""
        fields = {"uri": template, "argument": variable, **_present(typed=typed, vars=known)}
        return self._run(abi.OP_COMPLETE, fields).all(6)

    def version(self, uri):
        """The etag that watch gives for a resource now."""
        return dict(self._run(abi.OP_POLL, self._route(uri)[0]).one(3)).get(7)

    def _run(self, op, fields):
        o = Operation(self)
        o.run(op, fields)
        return o

    def _manifest(self):
        return self._run(abi.OP_DESCRIBE, {}).one(9)

    def _route(self, uri):
        """The fields of a request for a URI, and whether its route has ranges."""
        for known in self.app.resources:
            if _normal(known) == _normal(uri):
                return {"uri": known}, False
        fields = {"uri": uri}
        found = find([route.uri for route in self.app.templates], uri)
        if found:
            fields["route"] = found[0] + 1
            fields["vars"] = {name: values[0] if len(values) == 1 else values for name, values in found[1].items()}
            if not fields["vars"]:
                del fields["vars"]
        return fields, bool(found) and self.app.templates[found[0]].ranges


def _present(**fields):
    return {name: value for name, value in fields.items() if value}


def _entry(fields):
    found = {_COMMON[n]: value for n, value in fields if n in _COMMON}
    get = dict(fields).get
    if get(9):
        found["audience"] = [name for bit, name in _AUDIENCE.items() if get(9) & bit]
    icons = [_icon(value) for n, value in fields if n == 10]
    if icons:
        found["icons"] = icons
    if get(11):
        found["meta"] = json.loads(get(11))
    return found


def _icon(fields):
    names = {1: "src", 2: "mime_type", 4: "theme"}
    found = {names[n]: value for n, value in fields if n in names}
    sizes = [value for n, value in fields if n == 3]
    return {**found, "sizes": sizes} if sizes else found


def _normal(uri):
    """The one spelling by which the host knows a resource."""
    out, digits = "", 0
    for byte in uri.encode():
        c = chr(byte).upper() if digits else chr(byte)
        out += c if byte < 0x80 else f"%{byte:02X}"
        digits = 2 if c == "%" else max(0, digits - 1)
    return out
