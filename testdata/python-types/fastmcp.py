"""Uses the whole surface of wasmres.fastmcp and wasmres.testing, for type checkers."""

from pathlib import Path
from typing import Any

from wasmres.fastmcp import (
    Annotations,
    BinaryResource,
    Completion,
    CompletionArgument,
    CompletionContext,
    Context,
    CurrentContext,
    DirectoryResource,
    FastMCP,
    FileResource,
    FunctionResource,
    HttpResource,
    Icon,
    MCPServer,
    NotFoundError,
    PromptReference,
    Resource,
    ResourceContent,
    ResourceError,
    ResourceResult,
    ResourceSecurity,
    ResourcesAsTools,
    ResourceTemplateReference,
    TextResource,
    get_context,
    resource,
    safe_join,
)
from wasmres.testing import Answer, Client

mcp = FastMCP("surface", "Instructions.", version="1", title="Surface", on_duplicate_resources="error", timeout=3)
other: FastMCP = MCPServer("other")


@mcp.resource(
    "surface://{name}{?limit}",
    name="name",
    title="Title",
    description="Description",
    mime_type="text/plain",
    tags={"a"},
    enabled=True,
    annotations=Annotations(audience=["user"], priority=0.5, readOnlyHint=True),
    icons=[Icon(src="https://example.org/i.png", mimeType="image/png", sizes=["48x48"]), {"src": "https://example.org"}],
    meta={"a": 1},
    version="1",
    security=ResourceSecurity(exempt_params={"name"}),
)
async def read(name: str, ctx: Context, limit: int = 3) -> dict[str, Any]:
    await ctx.info("reads")
    await ctx.report_progress(1, 2, "half")
    await ctx.set_state("a", 1)
    result = await ctx.read_resource("surface://a")
    text: str | None = result.contents[0].mime_type
    for content in result:
        text = str(content.content)
    return {"a": await ctx.get_state("a"), "id": ctx.request_id + ctx.uri, "t": text, "n": name, "s": ctx.fastmcp.name}


@mcp.resource("surface://result")
def result(ctx: Context = CurrentContext()) -> ResourceResult:
    if ctx.client_id is None:
        raise ResourceError("no client")
    if get_context().request_id == "":
        raise NotFoundError("none")
    return ResourceResult([ResourceContent({"a": 1}), ResourceContent(b"", mime_type="image/png", meta={})], meta={"a": 1})


@resource("surface://later", annotations={"priority": 1})
def later() -> str:
    return "later"


class Own(Resource):
    table: str

    async def read(self) -> str:
        return self.table


for made in (
    TextResource(uri="surface://text", text="a"),
    BinaryResource(uri="surface://bytes", data=b"a"),
    FileResource(uri="surface://file", path="/files/a", is_binary=True),
    HttpResource(uri="surface://http", url="https://example.org"),
    DirectoryResource(uri="surface://dir", path="/files", recursive=True, pattern="*.md"),
    FunctionResource(later.fn, "surface://function"),
    Own(uri="surface://own", table="a"),
    later,
):
    mcp.add_resource(made)
mcp.add_resource(later, key="surface://key")
later.disable()
mcp.enable(tags={"a"}, only=True).disable(keys={"resource:surface://text"}, names=["a"])
mcp.add_transform(ResourcesAsTools(mcp))
joined: Path = safe_join(Path("/files"), "a", "b")
kept: str = safe_join("/files", "a") + later() + result().contents[0].content


@mcp.completion()
async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion | None:
    if isinstance(ref, PromptReference) or context is None or not context.arguments:
        return None
    return Completion(values=[argument.value + argument.name + ref.uri, *context.arguments.values()], hasMore=False)


def server(method: str, url: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "text/plain"}, (method + url + str(headers)).encode() + body


def test_all() -> None:
    client = Client(
        mcp, config={"a": "b"}, env={"A": "b"}, dirs={"/a": "."}, write_dirs={"/b": "."}, http=server,
        sql={"main": "a.db"}, kv={"a": b"b"},
    )
    answer: Answer = client.read(
        "surface://a", range=(0, 3), if_none_match="a", max_bytes=9, meta={}, principal={"subject": "ada"}
    )
    data: Any = answer.json()
    assert answer.text + answer.mime_type + str(answer.blob) + str(data) + str(answer.ttl) + str(answer.public)
    assert [c.text or c.blob or c.etag or c.meta for c in answer.contents] and answer.content.not_modified
    assert [e["uri"] for e in client.list() + client.templates()] + client.complete("a", "b", "c", known="d")
    assert client.version("surface://a") and client.logs[0][1] + client.updated[0]
    Client(mcp, http=True)


mcp.run(transport="stdio")
