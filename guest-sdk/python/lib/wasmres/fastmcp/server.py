"""The server, which here is a provider."""

import _wasmres_request as asked

from ..handler import settled
from ..log import log
from ..provider import Provider
from .context import Context
from .plain import plain
from .resources import FunctionResource, Resource
from .types import CompletionArgument, CompletionContext, ResourceTemplateReference, icon_of, shown

_DUPLICATES = ("warn", "error", "replace", "ignore")
_ACCESS = "the operator of wasmres says who may read"
_LEFT_OUT = ("version", "task", "app", "timeout", "run_in_thread", "security")  # options of a resource
_REFUSED = {  # options that a server must not lose without a word
    "auth": _ACCESS,
    "auth_server_provider": _ACCESS,
    "token_verifier": _ACCESS,
    "middleware": "wasmres is the server, and runs no middleware",
    "lifespan": "make what handlers use at the top level: each request finds it as it was then",
    "providers": "add resources with add_resource",
    "transforms": "add resources as they are to be",
    "tools": "tools belong into another server",
}


class FastMCP(Provider):
    """A provider. What FastMCP's constructor takes beside a name, instructions, a version, tags and rules for duplicates is
    left out: wasmres is the server."""

    request_type = Context
    plain = staticmethod(plain)

    def __init__(self, name="provider", instructions=None, version=None, asks=(), prefixes=(), title=None,
                 on_duplicate_resources=None, on_duplicate=None, **others):
        refuse(others)
        super().__init__(name, version=version, title=title, description=instructions, asks=asks, prefixes=prefixes)
        self.instructions = instructions
        self.on_duplicate = on_duplicate_resources or on_duplicate or "warn"
        if self.on_duplicate not in _DUPLICATES:
            raise ValueError("on_duplicate_resources is one of " + ", ".join(_DUPLICATES))
        self._all = {}  # routes by their keys, each with the key, tags and name
        self._rules = []  # of visibility: the last one that fits a route holds
        self._complete = None

    @property
    def settings(self):
        return self

    def resource(self, uri, *, name=None, **options):
        """Decorates the function that answers for a URI, or for all URIs of a template."""
        if callable(uri):
            raise TypeError("resource takes a URI: write @mcp.resource(\"data://…\")")

        def decorate(function):
            if isinstance(function, FunctionResource):
                function = function.fn
            found = FunctionResource(function, uri, name=name, **options)
            for option in found.fields:
                if option not in _LEFT_OUT and option not in _REFUSED:
                    raise TypeError(str(uri) + ": resource has no argument " + option + _meant(option, found.options))
            self.add_resource(found)
            return found

        return decorate

    def add_resource(self, resource, key=None):
        """Adds a Resource, under its URI or the key."""
        uri = key or resource.uri
        refuse(resource.fields)
        version = getattr(resource, "version", None)
        if not self._replaces(uri, version):
            return resource
        function = resource.fn if isinstance(resource, FunctionResource) else resource.read
        shown_as = dict(resource.options)
        tags = sorted(shown_as.pop("tags") or ())
        enabled = shown_as.pop("enabled")
        shown_as.update(shown(shown_as.pop("annotations")))
        shown_as["icons"] = [icon_of(icon) for icon in shown_as["icons"] or ()]
        shown_as["mime_type"] = resource.mime_type
        shown_as["meta"] = _meta(shown_as["meta"], tags, version)
        super().add_resource(_rfc6570(uri), function, **shown_as)
        route = self.templates[-1] if "{" in uri else self.resources[uri]
        found = ("template:" if "{" in uri else "resource:") + uri
        self._all[found] = (route, found, tags, resource.name)
        resource.server = self
        if self._complete:
            self._set_completions(route)
        if not enabled:
            self._rules.append((False, (found,), (), (), False))
        self._show()
        return resource

    def add_template(self, template):
        return self.add_resource(template)

    def _replaces(self, uri, version):
        """Makes room for a resource, unless an earlier one is to stay."""
        found = ("template:" if "{" in uri else "resource:") + uri
        if found not in self._all:
            return True
        if self.on_duplicate == "error":
            raise ValueError(uri + ": an earlier resource is the same")
        if self.on_duplicate == "warn" and version is None:
            log.warn(uri + " replaces an earlier resource of the same URI")
        if self.on_duplicate != "ignore":
            del self._all[found]
            self._show()
            return True
        return False

    def remove_resource(self, uri):
        self._all.pop(("template:" if "{" in uri else "resource:") + uri)
        self._show()

    def enable(self, *, names=None, keys=None, tags=None, only=False, **_):
        """Shows resources that have one of the names, keys as in "resource:data://x", or tags; with only, no others."""
        self._rules.append((True, keys or (), tags or (), names or (), only))
        self._show()
        return self

    def disable(self, *, names=None, keys=None, tags=None, **_):
        """Has clients neither list nor read such resources."""
        self._rules.append((False, keys or (), tags or (), names or (), False))
        self._show()
        return self

    def _show(self):
        found = [entry for entry in self._all.values() if self._is_shown(entry)]
        self.resources = {route.uri: route for route, _, _, _ in found if not route.variables}
        self.templates = [route for route, _, _, _ in found if route.variables]

    def _is_shown(self, entry):
        _, key, own_tags, name = entry
        visible = True
        for enables, keys, tags, names, only in self._rules:
            fits = key in keys or name in names or any([tag in tags for tag in own_tags])
            if fits:
                visible = enables
            elif only:
                visible = False
        return visible

    def completion(self):
        """Decorates the function that suggests values: it gets a reference to the template, the argument and the
        context."""

        def decorate(function):
            self._complete = function
            for route, _, _, _ in self._all.values():
                self._set_completions(route)
            return function

        return decorate

    def _set_completions(self, route):
        for name, _ in route.variables:
            Provider.complete(self, route.uri, name)(self._suggest(route.uri, name))

    def _suggest(self, uri, name):
        def suggest(typed, request):
            argument = CompletionArgument(name, typed)
            context = CompletionContext(request.vars)
            found = settled(self._complete(ResourceTemplateReference(uri), argument, context))
            return found.values if hasattr(found, "values") else found

        return suggest

    def answer(self, uri, context):
        """What the handler of a resource answers, None without one."""
        route = self.resources.get(uri)
        if route:
            return route.handler.call(context)
        from ..matching import find

        found = find([route.uri for route in self.templates], uri)
        if not found:
            return None
        route, values = self.templates[found[0]], found[1]
        variables = {name: v[0] if len(v) == 1 else v for name, v in values.items()}
        try:
            return route.handler.call(Context({"uri": uri, "vars": variables}, route.variables))
        finally:
            asked.context(context)

    def add_transform(self, transform):
        if not isinstance(transform, ResourcesAsTools):
            raise TypeError("add_transform: wasmres knows none but ResourcesAsTools")

    def tool(self, *_, **__):
        raise TypeError("wasmres serves resources: tools belong into another server")

    add_tool = tool

    def prompt(self, *_, **__):
        raise TypeError("wasmres serves resources: prompts belong into another server")

    add_prompt = prompt


def refuse(options):
    """Raises TypeError for an option that would be lost."""
    for name, why in _REFUSED.items():
        if options.get(name):
            raise TypeError(name + ": " + why)


def _meant(option, known):
    """What to say of an argument that differs from a known one in letter case and underscores only."""
    for name in [*known, "mime_type"]:
        if name.replace("_", "") == option.replace("_", "").lower():
            return ": write " + name
    return ""


class ResourcesAsTools:
    """Does nothing: an operator offers resources as tools with --tools."""

    def __init__(self, _):
        pass


def _meta(meta, tags, version):
    """The meta of a resource, in which FastMCP tells tags and version."""
    more = {}
    if tags:
        more["tags"] = tags
    if version is not None:
        more["version"] = str(version)
    if not more:
        return meta
    found = dict(meta or {})
    found["fastmcp"] = more
    return found


def _rfc6570(uri):
    """FastMCP's {path*} is any number of segments, which RFC 6570 writes {+path}."""
    parts = uri.split("{")
    for i in range(1, len(parts)):
        variable, rest = parts[i].split("}", 1)
        if variable.endswith("*") and variable[0] not in "+#./;?&":
            variable = "+" + variable[:-1]
        parts[i] = variable + "}" + rest
    return "{".join(parts)
