"""Serves resources of the Model Context Protocol from a sandbox. docs/languages/python.md shows how."""

import sys

if sys.implementation.name == "micropython":
    from . import importing
else:
    __import__("wasmres.native")  # which stands for the engine in native tests

from .abi import DIRECTORY_TYPE
from .config import config, env
from .content import Blob, Content, Text, Unmodified
from .failure import Denied, Failure, Invalid, NotFound, Unavailable
from .files import Dir
from .http import fetch
from .kv import Conflict, kv
from .log import log
from .notify import notify_list_changed, notify_updated
from .provider import Provider
from .request import Request
from .sql import query, query_row
