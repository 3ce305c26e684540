"""What there is in place of modules that are not there."""

import sys

_NATIVE = "it has native code, which a provider in Python cannot have; "
_FAST = "import FastMCP, Context and the others from wasmres.fastmcp"
_SQL = "a database that the operator grants is queried with sqlite3, or with query of wasmres"
_SERVER = "wasmres is the server: a provider only answers reads"
_DATA = "return dicts, or dataclasses with dataclasses.asdict"
_NO_PROCESS = "a provider has no processes, threads and sockets"
_PACKED = "compressed files cannot be read here: grant the files that are in them"

_INSTEAD = {
    "fastmcp": _FAST, "mcp": _FAST,
    "numpy": _NATIVE + "lists, math and statistics are there",
    "pandas": _NATIVE + "csv, statistics and sqlite3 are there",
    "polars": _NATIVE + "csv, statistics and sqlite3 are there",
    "scipy": _NATIVE + "math and statistics are there",
    "sklearn": _NATIVE + "math and statistics are there",
    "torch": _NATIVE + "fetch answers from a server that has it",
    "tensorflow": _NATIVE + "fetch answers from a server that has it",
    "transformers": _NATIVE + "fetch answers from a server that has it",
    "matplotlib": _NATIVE + "write SVG as text",
    "PIL": _NATIVE + "answer the bytes of images as they are",
    "cv2": _NATIVE + "answer the bytes of images as they are",
    "lxml": _NATIVE + "re and html are there",
    "bs4": "re, and html.unescape, are there",
    "xml": "re, and html.unescape, are there",
    "yaml": "json and csv are there",
    "tomllib": "json and csv are there",
    "toml": "json and csv are there",
    "configparser": "json and csv are there; config of wasmres has what the operator configures",
    "pydantic": _DATA, "pydantic_settings": "config of wasmres and os.environ have the configuration", "attr": _DATA,
    "attrs": _DATA, "msgspec": _DATA, "orjson": "json is there", "ujson": "json is there", "simplejson": "json is there",
    "sqlalchemy": _SQL, "psycopg": _SQL, "psycopg2": _SQL, "asyncpg": _SQL, "pymysql": _SQL, "MySQLdb": _SQL, "mysql": _SQL,
    "aiomysql": _SQL, "duckdb": _SQL, "peewee": _SQL, "databases": _SQL, "sqlmodel": _SQL,
    "pymongo": "fetch from an HTTP interface of the database", "redis": "kv of wasmres keeps values",
    "shelve": "kv of wasmres keeps values", "dbm": "kv of wasmres keeps values", "pickle": "json is there; kv of wasmres keeps values",
    "boto3": "fetch of wasmres and httpx send requests that the operator grants",
    "openai": "httpx sends requests that the operator grants", "anthropic": "httpx sends requests that the operator grants",
    "urllib3": "urllib.request, httpx and requests are there", "http": "urllib.request, httpx and requests are there",
    "websockets": "httpx sends requests that the operator grants",
    "uvicorn": _SERVER, "starlette": _SERVER, "fastapi": _SERVER, "flask": _SERVER, "django": _SERVER, "socketserver": _SERVER,
    "wsgiref": _SERVER, "click": _SERVER + ", and config of wasmres has its options", "typer": _SERVER
    + ", and config of wasmres has its options", "argparse": _SERVER + ", and config of wasmres has its options",
    "subprocess": _NO_PROCESS, "multiprocessing": _NO_PROCESS, "socket": _NO_PROCESS + "; httpx sends requests", "signal":
    _NO_PROCESS, "concurrent": _NO_PROCESS + "; asyncio is there", "ssl": _NO_PROCESS + "; the host verifies certificates",
    "select": _NO_PROCESS, "ctypes": _NATIVE + "struct is there", "psutil": _NATIVE + "grant /proc as a folder and read it",
    "trio": "asyncio is there", "gzip": _PACKED, "zlib": _PACKED, "zipfile": _PACKED, "tarfile": _PACKED, "bz2": _PACKED,
    "lzma": _PACKED, "decimal": "ints of any size and round are there", "fractions": "ints of any size are there",
    "tempfile": "a provider keeps what it makes in memory, with io.BytesIO, or in a granted folder",
    "unittest": "tests run under pytest of CPython, and with wasmres test", "pytest": "tests run under CPython, and with wasmres test",
    "pytz": "datetime.timezone and zoneinfo, with UTC, are there", "dateutil": "datetime.fromisoformat and strptime are there",
    "arrow": "datetime is there", "rich": "print and logging write to the operator's log", "loguru": "logging is there",
    "structlog": "logging is there", "importlib": "import the module by its name: all modules are packed when the provider is built",
}

MODULES = (
    "abc aiofiles aiohttp aiosqlite anyio array asyncio base64 binascii bisect builtins cmath collections contextlib copy csv "
    "dataclasses datetime dotenv enum errno fnmatch functools gc glob hashlib heapq hmac html httpx inspect io itertools json "
    "logging math micropython mimetypes operator os pathlib platform pprint random re requests secrets shutil sqlite3 "
    "statistics string struct sys textwrap threading time traceback types typing typing_extensions urllib uuid warnings wasmres "
    "zoneinfo"
).split()


def explain(name):
    """What there is in place of a module, in a clause."""
    top = name.split(".")[0]
    if top in _INSTEAD:
        return _INSTEAD[top]
    within, _, part = name.rpartition(".")
    if within in sys.modules:
        return _lacking(within, part)
    if top in MODULES:
        return "the library has only parts of " + top
    close = [known for known in MODULES if _is_close(top.lower(), known)]
    beside = "if it is written in Python, pip install --target vendor " + top + " puts it where wasmres build finds it"
    if close:
        return "the library has " + " and ".join(close[:3]) + "; " + beside
    return beside + "; docs/languages/python.md has a table of the library"


def _lacking(module, name):
    """What to say of a module that has no such name."""
    close = [known for known in dir(sys.modules[module]) if known[0] != "_" and _is_close(name.lower(), known.lower())]
    return module + " has no " + name + (", but " + " and ".join(close[:3]) if close else "")


def _is_close(name, known):
    """Whether one edit makes one of the other, or they are the same but for an ending."""
    if len(name) > 3 and (known.startswith(name) or name.startswith(known)) and len(known) > 3:
        return True
    if abs(len(name) - len(known)) > 1 or len(known) < 3:
        return False
    i = 0
    while i < min(len(name), len(known)) and name[i] == known[i]:
        i += 1
    if len(name) == len(known):
        return name[i + 1 :] == known[i + 1 :] or (
            name[i : i + 1] == known[i + 1 : i + 2] and name[i + 1 : i + 2] == known[i : i + 1] and name[i + 2 :] == known[i + 2 :]
        )
    long, short = (name, known) if len(name) > len(known) else (known, name)
    return long[i + 1 :] == short[i:]
