"""The manifest."""

import _wasmres_frame as frame

from . import abi
from .entry import last_part, put_common
from .out import json_of, time_of

_SDK = "python/1.0.0"
_LIFECYCLES = {"fresh": abi.LIFECYCLE_FRESH, "session": abi.LIFECYCLE_SESSION, "shared": abi.LIFECYCLE_SHARED}


def put_manifest(provider):
    frame.begin(9)
    frame.text(2, provider.name)
    frame.text(3, provider.version)
    frame.text(4, provider.title)
    frame.text(5, provider.description)
    for route in provider.templates:
        _put_template(route)
    for route in provider.resources.values():
        _put_resource(route)
    frame.number(8, provider.ops)
    for capability in provider.asks:
        _put_capability(capability)
    _put_limits(provider)
    for prefix in provider.prefixes:
        frame.element(11, prefix)
    frame.text(12, _SDK)
    frame.text(13, json_of(provider.config_schema))
    frame.end()


def _put_resource(route):
    frame.begin(7)
    put_common(route.uri, route.shown.get("name") or last_part(route.uri), route.shown)
    frame.number(6, route.shown.get("size"))
    frame.text(8, time_of(route.shown.get("last_modified")))
    frame.end()


def _put_template(route):
    frame.begin(6)
    put_common(route.uri, route.shown.get("name") or route.uri, route.shown)
    for variable in route.completions:
        frame.element(12, variable)
    frame.number(13, 1 if route.ranges else 0)
    frame.number(14, route.ttl)
    frame.number(15, route.scope)
    frame.end()


def _put_capability(capability):
    frame.begin(9)
    frame.text(1, capability["name"])
    frame.text(2, json_of(capability.get("params")))
    frame.number(3, 1 if capability.get("optional") else 0)
    frame.text(4, capability.get("reason"))
    frame.end()


def _put_limits(provider):
    get = provider.limits.get
    if provider.lifecycle not in _LIFECYCLES:
        raise ValueError('there is no lifecycle "' + str(provider.lifecycle) + '"')
    frame.begin(10)
    frame.number(1, (get("memory", 0) + 65535) // 65536)
    frame.number(2, get("deadline", 0) * 1000)
    frame.number(3, get("max_body", 0))
    frame.number(4, get("max_instances", 0))
    frame.number(5, _LIFECYCLES[provider.lifecycle])
    frame.end()
