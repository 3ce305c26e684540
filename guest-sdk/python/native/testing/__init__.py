"""Runs a provider under CPython, for its tests: Client is what wasmres is otherwise, host and client in one.

    from provider import app
    from wasmres.testing import Client

    def test_greeting():
        assert Client(app).read("greeting://Ada").text == "Hello, Ada!"

It matches URIs as the host does, and runs the SDK that a module has. Two things differ: globals that a read changes stay
changed, and modules of the standard library, as os and json, are CPython's: only Dir, open and what else is wasmres's own has
the grants of the Client."""

from .answer import Answer, Content
from .client import Client
