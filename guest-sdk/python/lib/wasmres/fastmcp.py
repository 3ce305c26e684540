"""FastMCP's names for a provider, so that a server of resources needs another import and nothing else."""

from .failure import NotFound
from .provider import Provider
from .request import Request as Context

ResourceError = NotFound


class FastMCP(Provider):
    """A provider. What FastMCP's constructor takes beside a name, instructions and a version is left out: wasmres is the
    server."""

    def __init__(self, name="provider", instructions=None, version=None, asks=(), prefixes=(), **_):
        super().__init__(name, version=version, description=instructions, asks=asks, prefixes=prefixes)

    def resource(self, uri, *, name=None, title=None, description=None, mime_type=None, annotations=None, icons=None,
                 meta=None, **_):
        shown = dict(annotations or {})
        options = {
            "title": title,
            "description": description,
            "mime_type": mime_type,
            "icons": icons,
            "meta": meta,
            "audience": shown.get("audience"),
            "priority": shown.get("priority"),
        }

        def decorate(function):
            options["name"] = name or function.__name__
            self.add_resource(_rfc6570(uri), function, **options)
            return function

        return decorate

    def tool(self, *_, **__):
        raise TypeError("wasmres serves resources: tools belong into another server")

    def prompt(self, *_, **__):
        raise TypeError("wasmres serves resources: prompts belong into another server")


def _rfc6570(uri):
    """FastMCP's {path*} is any number of segments, which RFC 6570 writes {+path}."""
    parts = uri.split("{")
    for i in range(1, len(parts)):
        variable, rest = parts[i].split("}", 1)
        if variable.endswith("*") and variable[0] not in "+#./;?&":
            variable = "+" + variable[:-1]
        parts[i] = variable + "}" + rest
    return "{".join(parts)
