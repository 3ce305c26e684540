"""Type checkers find a mistake in each line that says so, and in no other."""

from typing import Any

from wasmres import Blob, Dir, NotFound, Provider, Request, kv
from wasmres import Blog  # mistake
from wasmres.fastmcp import Context, FastMCP, TextResource
from wasmres.testing import Client

app = Provider("x", versoin="1")  # mistake
mcp = FastMCP("x", auth=object())  # mistake


@app.resource("x://a", mimetype="text/plain")  # mistake
def a(request: Request) -> bytes:
    request.int(3)  # mistake
    return request.uri  # mistake


@mcp.resource(3)  # mistake
async def b(ctx: Context) -> dict[str, Any]:
    await ctx.inform("x")  # mistake
    return {}


Blob(3)  # mistake
NotFound(message=3)  # mistake
Dir("/a").read("b") + "text"  # mistake
kv.put("a", 3)  # mistake
TextResource(text="no URI")  # mistake
mcp.add_resource("x://a")  # mistake
Client(app).reed("x")  # mistake
Client(app).read("x").text + 1  # mistake
