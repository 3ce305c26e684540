"""Templates: paths, queries, types and defaults."""

import json

from wasmres.fastmcp import FastMCP

mcp = FastMCP(name="Library")


@mcp.resource("weather://{city}/now")
def weather(city: str) -> str:
    """The weather in a city."""
    return json.dumps({"city": city.capitalize(), "degrees": 22})


@mcp.resource("shelf://{room}/{shelf}/info", annotations={"readOnlyHint": True})
def shelf_info(room: str, shelf: str) -> dict:
    return {"room": room, "shelf": shelf, "both": f"{room}/{shelf}"}


# {path*} is several segments, at the end and between others.
@mcp.resource("page://{name}")
def page(name: str) -> str:
    return f"page {name}"


@mcp.resource("path://{path*}")
def path_of(path: str) -> str:
    return f"path {path}"


@mcp.resource("tree://{owner}/{path*}/leaf.txt")
def leaf(owner: str, path: str) -> dict:
    return {"owner": owner, "path": path + "/leaf.txt"}


# Queries, with defaults.
@mcp.resource("data://{id}{?format}")
def data(id: str, format: str = "json") -> str:
    return f"<data id='{id}'/>" if format == "xml" else f'{{"id": "{id}"}}'


@mcp.resource("api://{endpoint}{?version,limit,exact,ratio}")
def api(endpoint: str, version: int = 1, limit: int = 10, exact: bool = False, ratio: float = 0.5) -> dict:
    return {"endpoint": endpoint, "version": version, "limit": limit, "exact": exact, "ratio": ratio}


@mcp.resource("files://{path*}{?encoding,lines}")
def file(path: str, encoding: str = "utf-8", lines: int = 100) -> str:
    return f"{path} {encoding} {lines}"


@mcp.resource("search://{query}")
def search(query: str, most: int = 10) -> dict:
    """most is no part of the URI."""
    return {"query": query, "most": most}


# One function for two templates.
def find(name: str | None = None, email: str | None = None) -> dict:
    return {"name": name, "email": email}


mcp.resource("users://email/{email}")(find)
mcp.resource("users://name/{name}")(find)


@mcp.resource("any://{a}/{b}")
def anything(**parts) -> str:
    return "+".join([parts["a"], parts["b"]])


@mcp.resource("user://{id}/profile")
def profile(id: int) -> dict:
    return {"id": id, "name": f"User {id}"}
