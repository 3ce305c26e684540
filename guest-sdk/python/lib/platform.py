"""Where this runs."""

import sys


def system():
    return "wasmres"


def node():
    return ""


def release():
    return ""


version = processor = release


def machine():
    return "wasm32"


def platform(*_, **__):
    return "wasmres-wasm32"


def python_version():
    return ".".join([str(n) for n in sys.version_info[:3]])


def python_version_tuple():
    return tuple(python_version().split("."))


def python_implementation():
    return "MicroPython"


def architecture(*_):
    return "32bit", "WebAssembly"
