"""Imports: what one says that finds nothing, and the module sys with its streams."""

import builtins

from .system import system

_import = builtins.__import__
_START = "no module named '"


def _explaining(name, *rest):
    if name == "sys":
        return system
    try:
        return _import(name, *rest)
    except ImportError as error:
        text = str(error)
        if not text.startswith(_START) or not text.endswith("'"):
            raise  # the message of an import within the module, or of another kind
    from .missing import explain

    raise ImportError(text + ": " + explain(text[len(_START) : -1]))


builtins.__import__ = _explaining
