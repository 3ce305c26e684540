"""Asks the kit's provider natively what a recorded session cannot say."""

import datetime
import os
import sqlite3

import pytest

from provider import kit
from wasmres import (
    Conflict, Denied, Failure, Invalid, NotFound, Provider, kv, notify_list_changed, notify_updated, query, query_row,
)
from wasmres.fastmcp import FastMCP
from wasmres.testing import Client


def test_rows() -> None:
    app = Provider("rows")

    @app.resource("x://{n}")
    def rows(n: int) -> str:
        found = query("main", "select ? as n, null as x, x'00' as b, 1.5 as f", n)
        one = app.sql("main").query_row("select ? as n", n)
        none = query_row("main", "select 1 where 0")
        return repr((found[0], len(found), found.columns[0][0], list(found.values()), one, none, bool(found)))

    @app.resource("x://failing/{name}")
    def failing(name: str) -> str:
        return str(query(name, "selec"))

    client = Client(app, sql={"main": sqlite3.connect(":memory:")})
    row = {"n": 7, "x": None, "b": b"\x00", "f": 1.5}
    assert client.read("x://7").text == repr((row, 1, "n", [list(row.values())], {"n": 7}, None, True))
    for name, message in {
        "main": "the database main: the statement or its arguments make no sense", "other": "the database other: it is not granted",
    }.items():
        with pytest.raises(Failure, match=message):
            client.read("x://failing/" + name)


def test_kv() -> None:
    values: dict[str, bytes] = {"old": b"kept"}
    client = Client(kit, kv=values)
    put = client.read("kit://keep/a/1").text
    assert put.startswith("put ") and client.read("kit://kv/a").blob == b"1" and values["a"] == b"1"
    assert client.read("kit://keep/a/2").text == put.replace("put", "is")
    swapped = client.read("kit://swap/a/3").text
    assert swapped.startswith("put ") and swapped != put and values["a"] == b"3"
    assert client.read("kit://keys/o").text == "old\n" and client.read("kit://kv/old").blob == b"kept"
    client.read("kit://drop/a")
    with pytest.raises(NotFound):
        client.read("kit://kv/a")


def test_nothing_is_granted() -> None:
    for uri in ("kit://kv/a", "kit://file/a", "kit://rows/select%201", "kit://fetch/http://example.org/"):
        with pytest.raises(Denied):
            Client(kit).read(uri)
    with pytest.raises(NotFound):
        Client(kit).read("kit://env/HOME")


def test_files(tmp_path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    client = Client(kit, write_dirs={"/kit": tmp_path})
    assert client.read("kit://write/a.txt/text").text == "5" and (tmp_path / "a.txt").read_text() == "text\n"
    before = client.read("kit://file/a.txt").content
    client.read("kit://remove/a.txt")
    with pytest.raises(NotFound):
        client.read("kit://file/a.txt")
    (tmp_path / "sub").mkdir()
    empty = client.version("kit://folder/sub")
    (tmp_path / "sub" / "a").write_bytes(before.blob or b"")
    assert client.version("kit://folder/sub") != empty
    with pytest.raises(NotFound):
        client.read("kit://file/out%2Fpasswd")
    with pytest.raises(Denied):
        Client(kit, dirs={"/kit": tmp_path}).read("kit://write/a.txt/text")


def test_http() -> None:
    seen = []

    def server(method, url, headers, body):
        seen.append((method, url, headers, body))
        return 201, {"X-Kit": "answered"}, "body"

    assert Client(kit, http=server).read("kit://post/http://a/b").text == "201\nhttp://a/b\nanswered\nbody"
    assert seen == [("POST", "http://a/b", {"X-Kit": "sent"}, b"from the kit")]


def test_ranges_and_versions() -> None:
    client = Client(kit)
    part = client.read("kit://stream/1000", range=(250, 10)).content
    assert part.blob == bytes((250 + i) & 255 for i in range(10)) and part.range_total == 1000
    assert client.read("kit://text", range=(4, 5)).text == "quick"
    assert client.read("kit://text", if_none_match='"v1"').content.not_modified
    assert client.version("kit://text") == '"v1"'
    with pytest.raises(Failure):
        client.read("kit://stream/1000", max_bytes=10)


def test_principal_and_failures() -> None:
    client = Client(kit)
    who = {"subject": "ada", "tenant": "acme", "scopes": ["read"], "claims": {"a": 1}}
    assert client.read("kit://principal", principal=who).text == "ada/acme"
    with pytest.raises(Failure) as failed:
        client.read("kit://fail/4")
    assert failed.value.retry_after == 1.5 and failed.value.message == "failed as asked"
    with pytest.raises(Invalid):
        client.read("kit://fail/x")
    with pytest.raises(Failure) as broken:
        client.read("kit://join")
    assert isinstance(broken.value.__cause__, TypeError) and client.logs[-1][0] == "error"


def test_outside_of_a_read() -> None:
    with pytest.raises(Denied):
        kv.get("a")
    for notify in (lambda: notify_updated("kit://text"), notify_list_changed):
        with pytest.raises(Denied):
            notify()
    assert Conflict(None).entry is None


def test_fastmcp_loses_nothing_silently() -> None:
    for options in ({"auth": object()}, {"middleware": [1]}, {"lifespan": print}, {"tools": [print]}):
        with pytest.raises(TypeError, match=next(iter(options))):
            FastMCP("x", **options)
    with pytest.raises(TypeError, match="auth: the operator of wasmres says who may read"):
        FastMCP("x").resource("x://a", auth=object())(lambda: "")
    for decorate in (FastMCP("x").tool, FastMCP("x").prompt):
        with pytest.raises(TypeError, match="belong into another server"):
            decorate()
    with pytest.raises(TypeError, match="takes a URI"):
        FastMCP("x").resource(lambda: "")


def test_json_of_what_is_no_json() -> None:
    app = Provider("x")
    app.add_resource("x://a", lambda: {"when": datetime.date(2026, 1, 2)})
    with pytest.raises(Failure) as failed:
        Client(app).read("x://a")
    assert str(failed.value.__cause__) == "Object of type date is not JSON serializable"


def test_library() -> None:
    """The library of the sandbox stands in for packages that are not installed; the standard library has the grants."""
    import aiofiles
    import httpx

    app = Provider("x")

    @app.resource("x://all")
    async def everything() -> dict:
        async with httpx.AsyncClient() as client:
            answer = await client.get("https://example.org/a", params={"q": "1"})
        async with aiofiles.open("/kit/a.txt") as file:
            text = await file.read()
        with sqlite3.connect("data/main.db") as db:
            rows = db.execute("select 1 + 1").fetchall()
        return {"http": answer.json(), "file": text, "rows": rows, "env": os.environ["HOME_TOWN"]}

    client = Client(
        app, http=lambda method, url, headers, body: (200, {}, '{"url": "' + url + '"}'), dirs={"/kit": os.path.dirname(__file__)},
        sql={"main": sqlite3.connect(":memory:")}, env={"HOME_TOWN": "Cork"},
    )
    with open(os.path.join(os.path.dirname(__file__), "a.txt"), "w") as file:
        file.write("text")
    assert client.read("x://all").json() == {
        "http": {"url": "https://example.org/a?q=1"}, "file": "text", "rows": [[2]], "env": "Cork",
    }
    assert "HOME_TOWN" not in os.environ


def test_directories() -> None:
    app = Provider("directories")

    @app.list_directory
    def children(page, request):
        if request.uri != "x://dir" or "path" in request.vars:
            raise NotFound("no directory")
        for i in range(int(page.cursor or 0), 7):
            if i % 3 == 0 and str(i) != page.cursor and i:
                page.next(i)
                return
            page.add({"uri": "x://dir/" + str(i), "mime_type": "inode/directory"})

    client = Client(app)
    assert [entry["uri"] for entry in client.list_directory("x://dir")] == ["x://dir/" + str(i) for i in range(7)]
    assert client.list() == []
    with pytest.raises(NotFound):
        client.list_directory("x://file")

    elsewhere = Provider("elsewhere")
    elsewhere.list_directory(lambda: ["x://dir/a/b"])
    with pytest.raises(Failure, match="x://dir/a/b is not a direct child of x://dir"):
        Client(elsewhere).list_directory("x://dir")
    with pytest.raises(TypeError, match="list_directory is used twice"):
        elsewhere.list_directory(lambda: [])
