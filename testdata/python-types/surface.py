"""Uses the whole surface, for type checkers."""

from typing import Any, Iterator

from wasmres import (
    Blob,
    Conflict,
    Content,
    Denied,
    Dir,
    Failure,
    Invalid,
    NotFound,
    Provider,
    Request,
    Text,
    Unavailable,
    Unmodified,
    config,
    env,
    fetch,
    kv,
    log,
    notify_list_changed,
    notify_updated,
    query,
    query_row,
)

files = Dir("/files")
app = Provider(
    "surface",
    version="1.0.0",
    title="Surface",
    description=__doc__,
    prefixes=["surface://"],
    asks=["kv", {"name": "fs", "reason": "reads", "optional": True}],
    config_schema={"type": "object"},
    limits={"memory": 16 << 20},
    lifecycle="session",
)


def version(name: str) -> str:
    return files.stat(name).etag + files.folder_version(".")


@app.resource(
    "surface://files/{name}",
    name="file",
    title="File",
    description="A file.",
    mime_type="text/plain",
    priority=0.5,
    audience=["user", "assistant"],
    icons=[{"src": "https://example.org/i.png", "mime_type": "image/png", "sizes": ["48x48"]}],
    meta={"a": 1},
    ttl=5,
    public=True,
    ranges=True,
    watch=(1, version),
    complete={"name": lambda typed, request: [typed + "a"]},
)
def read(name: str, request: Request) -> Blob:
    part = request.range
    if part and request.if_none_match and request.max_bytes:
        log.debug(part[0], part[1])
    file = files.open(name)
    request.progress(1, 2, "half")
    request.info(request.uri, request.time_left(), request.config("key", "default"))
    who = request.principal
    log.info(who["subject"] if who else "nobody", request.meta)
    return Blob(file.chunks(), size=file.size, etag=file.etag, last_modified=file.last_modified)


@app.resource("surface://number/{n}", complete={"n": ["1", "2"]})
def number(request: Request) -> dict[str, Any]:
    return {"n": request.int("n", 0, 10)}


@app.resource("surface://folder", size=10, last_modified="2026-01-01T00:00:00Z")
def folder() -> Any:
    return files.folder(".", "surface://in/", max_files=3, max_bytes=1000, hidden=True, mime_type=kind)


def kind(name: str, head: bytes, is_text: bool) -> str | None:
    return "text/x" if is_text and name and head else None


@app.resource("surface://stream")
def stream() -> Iterator[str]:
    for info in files.list():
        yield f"{info.name} {info.size} {info.is_dir} {info.modified} {info.last_modified}\n"


@app.resource("surface://several")
async def several() -> list[Content]:
    return [Text("a", "text/markdown", uri="surface://a", meta={"x": 1}), Blob(b"b"), Unmodified("v")]


@app.resource("surface://fetched")
def fetched() -> str:
    answer = fetch("https://example.org", method="POST", headers={"a": "b"}, body=b"", max_bytes=10, timeout=1.5)
    if not answer.ok and answer.status == 404 and answer.header("x", "y"):
        raise NotFound("there is none")
    answer.check().raise_for_status()
    data: Any = answer.json()
    return answer.text + str(len(answer.content)) + str(data) + answer.url


@app.resource("surface://rows")
def rows() -> list[dict[str, Any]]:
    first = query_row("main", "select 1")
    found = query("main", "select ?1", 1, "a", None)
    return [*found] + ([first] if first else []) + [{"columns": list(found.columns)}]


@app.resource("surface://kept")
def kept() -> str:
    entry, value = kv.get_entry("key")
    try:
        made = kv.put("key", "value", ttl=5, if_version=entry.version if entry else None, if_absent=False)
        kv.update("key", lambda old: (old or b"") + b"1", ttl=1)
        kv.delete("key", if_version=made.version)
    except Conflict as conflict:
        log.warning(conflict.entry)
    names = [e.key for e in kv.keys("k", after="a")]
    return (kv.get_text("key", "none") or "") + str(kv.get("key")) + str(value) + ",".join(names)


@app.resource("surface://written")
def written() -> int:
    files.write("a", "text")
    files.append("a", b"bytes")
    files.remove("a")
    return len(files.read("b")) + len(files.read_text("c"))


@app.resource("surface://fails")
def fails() -> None:
    notify_updated("surface://rows")
    notify_list_changed()
    log.error(config("key"), env("KEY", "x"), app.config("key"), app.env("KEY"))
    for failure in (Invalid("a"), Denied("b"), Unavailable("c", retry_after=1.5), Failure("d", code=9, data={})):
        raise failure


@app.read_any
def unknown(request: Request) -> str:
    return request.uri


@app.list
def entries() -> Iterator[str | dict[str, Any]]:
    yield "surface://a"
    yield {"uri": "surface://b", "title": "B"}


@app.complete("surface://number/{n}", "n")
def complete(typed: str, request: Request) -> list[str]:
    return [typed, request.vars["n"]]


app.add_resource("surface://added", lambda: "added", mime_type="text/plain")
app.run()
