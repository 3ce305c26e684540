"""Resources that clients do not see."""

from wasmres.fastmcp import FastMCP

mcp = FastMCP("Archive")


@mcp.resource("archive://open", tags={"public"})
def open_shelf():
    return "open"


@mcp.resource("archive://closed", tags={"staff"})
def closed_shelf():
    return "closed"


@mcp.resource("archive://{box}/list", tags={"staff"})
def box_list(box: str):
    return box


@mcp.resource("archive://burnt", enabled=False)
def burnt():
    return "burnt"


@mcp.resource("archive://lent", tags={"public"})
def lent():
    return "lent"


@mcp.resource("archive://back", tags={"public"})
def back():
    return "back"


mcp.disable(keys={"resource:archive://lent"})
mcp.disable(tags={"staff"})
mcp.enable(tags={"public"}, only=True)
mcp.disable(keys={"resource:archive://lent"})

back.disable()
back.enable()
mcp.add_resource(back)  # once more
