"""What a provider is: its own options, and its routes."""

import _wasmres_engine as engine

from . import abi
from .config import config, env
from .entry import COMMON
from .handler import Handler, description_of
from .notify import notify_list_changed, notify_updated
from .request import Request
from .sql import Database
from .template import variables_of


class Route:
    """A resource or a template, and how it is answered."""

    def __init__(self, uri, function, options):
        self.uri = uri
        self.shown = options
        self.variables = variables_of(uri)
        self.mime_type = options.get("mime_type")
        self.ttl = int((options.pop("ttl", None) or 0) * 1000)
        self.scope = abi.CACHE_PUBLIC if options.pop("public", False) else abi.CACHE_PRIVATE
        self.ranges = options.pop("ranges", False)
        self.completions = options.pop("complete", None) or {}
        self.watch = options.pop("watch", None)  # seconds, and a function that returns an etag
        names = [name for name, _ in self.variables]
        self.handler = Handler(function, names, uri)
        self.quick = None  # what the engine needs to answer by itself: see engine/read.c
        if self.handler.quick and not [name for name, exploded in self.variables if exploded]:
            self.quick = (function,) + self.handler.quick + (self.variables, self.mime_type, self.ttl, self.scope)
        if self.watch:
            self.version = Handler(self.watch[1], names, uri + ": watch")
        for name in self.completions:
            if name not in names:
                raise TypeError(uri + ": complete: the template has no variable " + name)


class Provider:
    """The provider that this module is. Its options are in docs/languages/python.md."""

    request_type = Request  # what a parameter for the request gets
    plain = None  # function (value): what JSON has in place of values that have no form there; they are a TypeError without

    def __init__(self, name, *, version=None, title=None, description=None, prefixes=(), asks=(), config_schema=None,
                 limits=None, lifecycle="fresh"):
        from . import serve

        self.name = name
        self.version = version
        self.title = title
        self.description = description
        self.prefixes = [prefixes] if isinstance(prefixes, str) else list(prefixes)
        self.asks = [dict(name=a) if isinstance(a, str) else a for a in asks]
        self.config_schema = config_schema
        self.limits = limits or {}
        self.lifecycle = lifecycle
        self.sql = Database  # found sooner than an attribute of the class
        self.resources = {}  # routes by URI
        self.templates = []  # in the order of their numbers
        self.any = None
        self.lister = None
        self.directory_lister = None
        self.ops = 1 << abi.OP_DESCRIBE | 1 << abi.OP_CONFIGURE  # which runs provider.py
        serve.register(self)

    def resource(self, uri, **options):
        """Decorates the function that answers for a URI, or for all URIs of a template, as in "users://{id}". Its docstring
        is the description, its name the name."""

        def decorate(function):
            self.add_resource(uri, function, **options)
            return function

        return decorate

    def add_resource(self, uri, function, **options):
        """The same without a decorator."""
        _check(options, _RESOURCE if "{" not in uri else _TEMPLATE, uri)
        if options.get("description") is None:
            options["description"] = description_of(function)
        route = Route(uri, function, options)
        self.ops |= 1 << abi.OP_READ
        if route.watch:
            self.ops |= 1 << abi.OP_SUBSCRIBE | 1 << abi.OP_POLL
        if route.completions:
            self.ops |= 1 << abi.OP_COMPLETE
        if not route.variables:
            if uri in self.resources:
                raise TypeError(uri + ": an earlier resource is the same")
            self.resources[uri] = route
        else:
            if [r for r in self.templates if r.uri == uri]:
                raise TypeError(uri + ": an earlier template is the same")
            self.templates.append(route)

    def read_any(self, function):
        """Decorates the function for URIs that no resource or template matches, as those that are listed."""
        self.any = Route("", function, {})
        self.ops |= 1 << abi.OP_READ
        return function

    def list(self, function=None, *, ttl=None, public=False):
        """Decorates the function that lists what is only known at run time. It returns or yields URIs and dicts; one with a
        parameter page puts them there itself."""

        def decorate(function):
            if self.lister:
                raise TypeError("list is used twice")
            self.lister = Route("", function, {"ttl": ttl, "public": public})
            self.ops |= 1 << abi.OP_LIST
            return function

        return decorate(function) if function else decorate

    def list_directory(self, function=None, *, ttl=None, public=False):
        """Decorates the function that lists the direct children of directory resources, as one of list does. It gets the
        request, whose uri is the directory, if it has a parameter for it. The URI of a child is that of the directory, a
        slash, and the name of the child; directories among the children have the mime_type DIRECTORY_TYPE. A URI that is
        not one of a directory is NotFound."""

        def decorate(function):
            if self.directory_lister:
                raise TypeError("list_directory is used twice")
            self.directory_lister = Route("", function, {"ttl": ttl, "public": public})
            self.ops |= 1 << abi.OP_LIST_DIR
            return function

        return decorate(function) if function else decorate

    def complete(self, uri, variable):
        """Decorates the function that suggests values of a variable of a template. It gets what the user has typed, and the
        request if it has a parameter for it."""

        def decorate(function):
            for route in self.templates:
                if route.uri == uri and variable in [name for name, _ in route.variables]:
                    route.completions[variable] = function
                    self.ops |= 1 << abi.OP_COMPLETE
                    return function
            raise TypeError(uri + ": there is no such template, or it has no variable " + variable)

        return decorate

    notify_updated = staticmethod(notify_updated)
    notify_list_changed = staticmethod(notify_list_changed)
    config = staticmethod(config)
    env = staticmethod(env)

    def run(self, *args, **named):
        """Does nothing: wasmres is the server."""


_ROUTE = COMMON + ("ttl", "public", "watch", "ranges")
_RESOURCE = _ROUTE + ("size", "last_modified")
_TEMPLATE = _ROUTE + ("complete",)


def _check(options, known, where):
    for name in options:
        if name not in known:
            raise TypeError(where + ": there is no option " + name + ", but " + ", ".join(known))
