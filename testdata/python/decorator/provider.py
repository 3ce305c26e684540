"""The decorator, its arguments, and what functions return."""

import json

from wasmres.fastmcp import FastMCP, Icon, ResourceContent, ResourceResult

mcp = FastMCP(name="Tide Tables", instructions="Tides of a harbour.", version="2.0")


# Text, and JSON as text.
@mcp.resource("tide://hello")
def hello() -> str:
    """Says what this is."""
    return "Tides, by harbour."


@mcp.resource("tide://settings")
def settings() -> str:
    """The settings, as JSON."""
    return json.dumps({"unit": "m", "zone": "UTC", "harbours": ["Brest", "Cork"]})


# A dict, a list and bytes.
@mcp.resource("tide://today")
def today() -> dict:
    return {"high": [6.2, 18.6], "low": [0.4, 12.5]}


@mcp.resource("tide://mark", mime_type="image/gif")
def mark() -> bytes:
    return b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"


# All arguments.
@mcp.resource(
    uri="tide://status",
    name="HarbourStatus",
    description="Whether the harbour is open.",
    mime_type="application/json",
    tags={"state", "harbour"},
    meta={"team": "pilots"},
    version="1.1",
)
def status() -> str:
    """Is not shown, as there is a description."""
    return json.dumps({"open": True, "version": mcp.settings.version})


# Annotations and icons.
@mcp.resource("tide://chart", annotations={"readOnlyHint": True, "idempotentHint": True})
def chart() -> dict:
    return {"depth": 12.5}


@mcp.resource("tide://pilot", annotations={"audience": ["user"], "priority": 0.5}, icons=[Icon(src="https://example.org/p.png")])
def pilot() -> dict:
    return {"name": "Ada"}


@mcp.resource("tide://{harbour}/pilot", icons=[Icon(src="https://example.org/p.png", mimeType="image/png", sizes=["48x48"])])
def pilot_of(harbour: str) -> dict:
    return {"name": "Ada", "harbour": harbour}


# Several contents, with meta.
@mcp.resource("tide://all")
def everything() -> ResourceResult:
    return ResourceResult(
        contents=[
            ResourceContent(content='[{"high": 6.2}]', mime_type="application/json"),
            ResourceContent(content="# Tides\n", mime_type="text/markdown", meta={"page": 1}),
            ResourceContent({"low": 0.4}),
            ResourceContent(b"\x00\x01"),
        ],
        meta={"total": 4},
    )


@mcp.resource("tide://short")
def short():
    return ResourceResult("high at 6")


@mcp.resource("tide://raw")
def raw():
    return ResourceResult(b"\x00\x01\x02")


if __name__ == "__main__":
    mcp.run()
