"""Resources that are objects."""

import json

from wasmres.fastmcp import (
    BinaryResource,
    DirectoryResource,
    FastMCP,
    FileResource,
    FunctionResource,
    HttpResource,
    Resource,
    TextResource,
    resource,
)

mcp = FastMCP(name="Reading Room", asks=["fs", "http"])

mcp.add_resource(
    FileResource(
        uri="room://rules",
        path="/room/rules.md",
        name="Rules",
        description="The rules of the room.",
        mime_type="text/markdown",
        tags={"paper"},
    )
)
mcp.add_resource(FileResource(uri="room://seal", path="/room/seal.gif", mime_type="image/gif"))

notice = TextResource(uri="room://notice", name="Notice", text="Closed on Sunday.", tags={"news"})
mcp.add_resource(notice)
mcp.add_resource(TextResource(uri="room://plain", name="Plain", text="Under another key."), key="room://key")
mcp.add_resource(BinaryResource(uri="room://bytes", data=b"\x00\xff"))

mcp.add_resource(DirectoryResource(uri="room://papers", path="/room", name="Papers", recursive=False))
mcp.add_resource(DirectoryResource(uri="room://texts", path="/room", recursive=True, pattern="*.md"))
mcp.add_resource(HttpResource(uri="room://news", url="http://127.0.0.1:8000/news.json"))


def hours():
    """When the room is open."""
    return "9 to 5"


mcp.add_resource(FunctionResource(uri="room://hours", fn=hours))
mcp.add_resource(Resource.from_function(fn=lambda: "5", uri="room://seats", name="seats"))


class Shelf(Resource):
    """A class of this server's own."""

    books = 0
    mime_type = "application/json"

    async def read(self) -> str:
        return json.dumps({"books": self.books})


mcp.add_resource(Shelf(uri="room://shelf", books=7))


@resource("room://{day}/visitors")
def visitors(day: int) -> dict:
    """Registered later."""
    return {"day": day, "visitors": 4}


mcp.add_resource(visitors)


class Desk:
    def __init__(self, server):
        server.resource("room://desk")(self.describe)
        server.resource("room://desk/{drawer}/{thing}")(self.look)

    def describe(self):
        return "A desk."

    def look(self, drawer, thing):
        return f"{thing} in {drawer}"


Desk(mcp)
