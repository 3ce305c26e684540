"""The fields that resources, in lists and in the manifest, have in common with templates."""

import _wasmres_frame as frame

from . import abi
from .out import json_of, time_of

_AUDIENCES = {"user": abi.AUDIENCE_USER, "assistant": abi.AUDIENCE_ASSISTANT}

COMMON = ("name", "title", "description", "mime_type", "priority", "audience", "icons", "meta")
ENTRY = COMMON + ("uri", "size", "last_modified")


def put_entry(field, entry):
    """Writes a resource, a dict; returns how many bytes the frame has."""
    frame.begin(field)
    uri = entry["uri"]
    put_common(uri, entry.get("name") or last_part(uri), entry)
    frame.number(6, entry.get("size"))
    frame.text(8, time_of(entry.get("last_modified")))
    return frame.end()


def put_common(uri, name, entry):
    get = entry.get
    frame.text(1, uri)
    frame.text(2, name)
    frame.text(3, get("title"))
    frame.text(4, get("description"))
    frame.text(5, get("mime_type"))
    if get("priority") is not None:
        frame.double(7, get("priority"))
    if get("audience") is not None:
        frame.number(9, _audience_of(get("audience")))
    for icon in get("icons") or ():
        _put_icon(icon)
    frame.text(11, json_of(get("meta")))


def _audience_of(names):
    members = 0
    for name in [names] if isinstance(names, str) else names:
        if name not in _AUDIENCES:
            raise TypeError('an audience is "user" or "assistant", not "' + str(name) + '"')
        members |= _AUDIENCES[name]
    return members


def _put_icon(icon):
    frame.begin(10)
    frame.text(1, icon["src"])
    frame.text(2, icon.get("mime_type"))
    sizes = icon.get("sizes") or ()
    for size in [sizes] if isinstance(sizes, str) else sizes:
        frame.element(3, size)
    frame.text(4, icon.get("theme"))
    frame.end()


def last_part(uri):
    """The last part of a URI, which serves as a name."""
    return uri[uri.rfind("/") + 1 :] or uri
