"""The provider of package abitest, made with the SDK for Python."""

from granted import ASKS, list_folder, serve_granted
from text import text
from wasmres import DIRECTORY_TYPE, Blob, Failure, NotFound, Provider, Request, Text, Unavailable

ETAG = '"v1"'
ENTRIES = ["kit://many/" + str(i + 1) for i in range(25)]

kit = Provider("kit", version="1.0.0", asks=ASKS)


def version():
    return ETAG


@kit.resource("kit://text", watch=(1, version))
def whole_text():
    return Text(text, etag=ETAG)


@kit.resource("kit://blob")
def blob():
    return bytes(range(256))


@kit.resource("kit://empty")
def empty():
    return ""


@kit.resource("kit://several")
def several():
    return [Text("one", uri="kit://several/1"), Blob(b"\x02", uri="kit://several/2")]


@kit.resource("kit://principal")
def principal(request):
    who = request.principal
    return who["subject"] + "/" + who["tenant"] if who else "nobody"


@kit.read_any
def unknown():
    raise NotFound("nothing here")


@kit.resource("kit://echo/{value}", complete={"value": ["alpha", "beta", "bravo"]})
def echo(value: str) -> str:
    return value


@kit.resource("kit://join{/part*}")
async def join(part):
    return "|".join(part)


@kit.resource("kit://fail/{code}")
def fail(request: Request):
    code = request.int("code", 1, 9)
    if code == 4:
        raise Unavailable("failed as asked", retry_after=1.5)
    raise Failure("failed as asked", code=code)


@kit.resource("kit://stream/{n}", ranges=True)
def stream(request):
    size = request.int("n", 0)
    return Blob(counting(size), size=size)


def counting(n):
    """Yields n bytes, of which byte i is i & 0xff."""
    chunk = bytes(range(256)) * 192
    for at in range(0, n, len(chunk)):
        yield memoryview(chunk)[: n - at]


@kit.resource("kit://many/{i}")
def many(i):
    if "kit://many/" + i not in ENTRIES:
        raise NotFound("nothing here")
    return i


@kit.resource("kit://config/{key}")
def configured(key):
    value = kit.config(key)
    if value is None:
        raise NotFound("nothing here")
    return value


@kit.list
def entries():
    return ENTRIES


@kit.list_directory
def children(request):
    if "name" in request.vars:
        return list_folder(request)
    if request.uri == "kit://many":
        return ENTRIES + [{"uri": "kit://many/none", "mime_type": DIRECTORY_TYPE}]
    if request.uri == "kit://many/none":
        return []
    raise NotFound("nothing here")


serve_granted(kit)
