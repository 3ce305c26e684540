"""What the SDK for Python can do beyond the conformance kit."""

import json
import re

from lib.numbers import seven
from wasmres import Blob, Denied, Provider, Request, Text, log

WORD = "aü狐🦊"

served = Provider(
    "rest",
    version="2.0.0",
    title="The rest",
    description="Everything else.",
    prefixes=["rest://", "more://"],
    asks=[{"name": "fs", "reason": "reads files", "optional": True, "params": {"a": 1}}],
    config_schema={"type": "object"},
    limits={"memory": 100_000, "deadline": 1.5, "max_body": 1 << 20, "max_instances": 3},
    lifecycle="session",
)


@served.resource("rest://words/{n}")
def words(request):
    return WORD * request.int("n", 0)


@served.resource("rest://stream/{n}")
def stream(n: int):
    yield ""  # a stream without a chunk is an async function without an answer to the engine
    for _ in range(n):
        yield WORD


async def word():
    return WORD


@served.resource("rest://async/{n}")
async def later(n: int):
    return Text([await word()] * n)


def counting(start, end):
    """The bytes from start to end of those that count up."""
    return bytes([i & 255 for i in range(start, end)])


def chunks(n):
    for at in range(0, n, 48 << 10):
        yield counting(at, min(at + (48 << 10), n))


@served.resource("rest://whole/{n}", ranges=True)
def whole(n: int):
    return counting(0, n)


@served.resource("rest://chunks/{n}", ranges=True)
def in_chunks(n: int):
    return Blob(chunks(n), size=n)


@served.resource("rest://later/{n}", ranges=True)
async def chunks_later(n: int):
    return Blob(chunks(n), size=n)


@served.resource("rest://vars/{a}/{b}{?c,d*}")
def variables(request: Request):
    return json.dumps(request.vars, ensure_ascii=False)


@served.resource("rest://typed/{n}/{x}/{flag}")
@served.resource("rest://typed/{n}/{x}/{flag}{?more*}")  # whose variables the engine leaves to the SDK
def typed(n: int, x: float, flag: bool, more=()) -> str:
    return f"{n} {x} {flag}"


@served.resource("rest://asked/{n}/{x}/{flag}")
@served.resource("rest://asked/{n}/{x}/{flag}{?more*}")
async def asked(request: Request, n: int = 1, flag: bool = True):
    await word()
    return {"n": n, "flag": flag, "vars": request.vars, "uri": request.uri, "none": hasattr(request, "x")}


class Suspended:
    def __await__(self):
        yield "first, "

    __iter__ = __await__


@served.resource("rest://suspends/{n}")
async def suspends(n: int):
    await Suspended()
    await Suspended()
    return "lost"


def suggested(typed, request):
    return [request.vars["a"] + typed + str(i) for i in range(150)]


@served.resource(
    "rest://suggest/{a}{?b,c*}",
    name="suggest",
    title="Suggests",
    description="It suggests.",
    mime_type="text/html",
    audience=["user", "assistant"],
    icons=[{"src": "https://x/y.png", "mime_type": "image/png", "sizes": ["48x48"], "theme": "dark"}],
    meta={"m": 1},
    ttl=60,
    public=True,
    complete={"a": ["Upper", "lower"], "c": suggested},
)
def suggest(a, b=None, c=()):
    return a


@served.resource("rest://thrown")
def thrown():
    raise TypeError("secret")


@served.resource("rest://rejected")
async def rejected():
    await word()
    raise Exception("no message for the client")


@served.resource("rest://never")
def never():
    try:
        raise KeyError("a")
    finally:
        raise ValueError("b")


@served.resource("rest://nothing")
async def nothing():
    return None


@served.resource("rest://odd")
def odd():
    return object()


@served.resource("rest://refused")
def refused():
    raise Denied("not you")


@served.resource("rest://midway")
def midway():
    yield "a"
    raise ValueError("the rest is missing")


@served.resource("rest://deep")
def deep():
    return deep() + 1


@served.resource("rest://slow", size=4, last_modified="2026-11-22T00:00:00.000Z", priority=0.5)
def slow(request: Request):
    request.progress(1, 2, "half")
    log.debug("half", {"done": 1})
    return "true" if request.time_left() >= 0 else "false"


@served.resource("rest://globals")
def check_globals():
    if str(WORD.encode(), "utf-8") != WORD or len(WORD.encode()) != 10:
        return "texts"
    if json.loads(json.dumps({"a": [1, None, True, 1.5, "狐"]}))["a"][4] != "狐":
        return "json"
    if re.match(r"(\w+)=(\d+)", "abc=12").group(2) != "12":
        return "re"
    print("a line", {"of": [1, 2**70]})
    return "all there"


@served.resource("rest://imports")
def imports():
    return f"{seven}, a text\n"


@served.list(ttl=5, public=True)
def entries():
    for i in range(40):
        yield {"uri": f"more://{i}", "title": "Zwölf", "description": "x" * 1000, "size": i}
