"""What the official SDK's pages show."""

import base64
from pathlib import Path

from wasmres.fastmcp import (
    Completion,
    CompletionArgument,
    CompletionContext,
    MCPServer,
    PromptReference,
    ResourceNotFoundError,
    ResourceSecurity,
    ResourceTemplateReference,
    safe_join,
)

mcp = MCPServer("Record Shop")

RECORDS = {"kind-of-blue": "Miles Davis", "blue-train": "John Coltrane"}
SHELVES = {"jazz": ["kind-of-blue", "blue-train"], "rock": ["low"]}


@mcp.resource("shop://settings")
def settings() -> str:
    """The settings."""
    return "theme=dark\nlanguage=en"


@mcp.resource("file://documents/{name}")
def document(name: str) -> str:
    return f"Text of {name}"


@mcp.resource("shop://counts", mime_type="application/json")
def counts() -> dict[str, int]:
    return {"records": 1204, "artists": 391}


@mcp.resource("shop://sleeve.png", mime_type="image/png")
def sleeve() -> bytes:
    with open("/shop/sleeve.png", "rb") as f:
        return f.read()


@mcp.resource("record://{title}")
def record(title: str) -> str:
    if title not in RECORDS:
        raise ResourceNotFoundError(f"there is no record {title!r}")
    return f"{title} by {RECORDS[title]}"


@mcp.resource("review://{title}{?limit,sort}")
def reviews(title: str, limit: int = 10, sort: str = "newest") -> str:
    return f"{limit} {sort} reviews of {title}"


@mcp.resource("manual://{+path}")
def manual(path: str) -> str:
    return f"manual {path}"


@mcp.resource("browse://shop{/path*}")
def browse(path: list[str]) -> str:
    return " > ".join(["shop", *path])


@mcp.resource("file:///shop/{+path}")
def file(path: str) -> str:
    return safe_join(Path("/shop"), path).read_text(encoding="utf-8")


@mcp.resource("preview://{+source}", security=ResourceSecurity(exempt_params={"source"}))
def preview(source: str) -> str:
    return f"a preview of {source}"


@mcp.resource("shop://dot.gif", mime_type="image/gif")
def dot() -> bytes:
    return base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


@mcp.resource("shelf://{shelf}/{title}")
def on_shelf(shelf: str, title: str) -> str:
    return f"{title} in {shelf}"


@mcp.completion()
async def complete(
    ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    context: CompletionContext | None,
) -> Completion | None:
    if isinstance(ref, ResourceTemplateReference) and argument.name == "title":
        if context is None or context.arguments is None:
            return None
        titles = SHELVES.get(context.arguments.get("shelf", ""), [])
        return Completion(values=[title for title in titles if title.startswith(argument.value)], hasMore=False)
    return None


def main() -> None:
    mcp.run(transport="streamable-http")


if __name__ == "__main__":
    main()
