"""The context of a request, in functions that are async or not."""

import json
from dataclasses import dataclass
from datetime import date, datetime, timezone
from enum import Enum
from pathlib import Path

from wasmres.fastmcp import Context, CurrentContext, FastMCP, get_context

mcp = FastMCP(name="Weather Station")


@mcp.resource("station://state")
async def state(ctx: Context) -> str:
    """How the station is."""
    return json.dumps({"state": "up", "named": len(ctx.request_id) > 0, "same": ctx.request_id == ctx.request_id})


@mcp.resource("station://{name}/state")
async def state_of(name: str, ctx: Context) -> dict:
    return {"name": name, "uri": ctx.uri, "client": ctx.client_id}


@mcp.resource("station://report")
async def report(ctx: Context = CurrentContext()) -> dict:
    await ctx.debug("begins")
    await ctx.info("reads the state")
    await ctx.report_progress(1, 2)
    await ctx.log("warning", "takes long")
    await ctx.log("takes longer", level="error")
    [content] = await ctx.read_resource("station://state")
    result = await ctx.read_resource("station://oslo/state")
    await ctx.set_state("seen", True)
    return {
        "server": ctx.fastmcp.name,
        "state": json.loads(content.content)["state"],
        "oslo": json.loads(result.contents[0].content)["name"],
        "seen": await ctx.get_state("seen"),
    }


async def helper() -> str:
    ctx = get_context()
    await ctx.info("deep within")
    return ctx.request_id


@mcp.resource("station://anywhere/{name}")
def anywhere(name: str) -> dict:
    return {"uri": get_context().uri, "same": get_context() is get_context()}


@mcp.resource("station://within/{name}")
async def within(name: str, ctx: Context) -> bool:
    await ctx.read_resource("station://oslo/state")
    return get_context() is ctx


@mcp.resource("station://deep")
async def deep(ctx: Context | None = None) -> bool:
    return ctx is not None and await helper() == ctx.request_id


class Sky(Enum):
    CLEAR = "clear"


@dataclass
class Reading:
    day: date
    sky: Sky


@mcp.resource("station://readings")
async def readings() -> dict:
    noon = datetime(2026, 11, 23, 12, 0, 30)
    return {
        "at": noon, "utc": noon.replace(tzinfo=timezone.utc), "sky": Sky.CLEAR, "tags": {"a"}, "raw": b"12", "path": Path("/a"),
        "all": [Reading(date(2026, 11, 22), Sky.CLEAR), (noon.date(),)],
    }


@mcp.resource("station://plain")
def plain(ctx: Context) -> str:
    ctx.info("not awaited")
    return "plain"


@mcp.resource("station://asks")
async def asks(ctx: Context) -> str:
    return await ctx.sample("What is the weather?")  # type: ignore
