"""Errors, and resources that are registered twice."""

from wasmres.fastmcp import FastMCP, NotFoundError, ResourceError, ValidationError

mcp = FastMCP(name="Post Office", mask_error_details=True, on_duplicate_resources="replace")


@mcp.resource("post://told")
def told() -> str:
    raise ResourceError("the letter is not here")


@mcp.resource("post://masked")
def masked() -> str:
    raise ValueError("shelf 3 in /srv/letters")


@mcp.resource("post://{id}")
def letter(id: str) -> dict:
    if id == "locked":
        raise ValueError("no key")
    if id == "lost":
        raise NotFoundError(f"no letter {id}")
    if id == "torn":
        raise ValidationError("it cannot be read")
    return {"id": id}


@mcp.resource("post://version")
def first():
    return {"version": 1}


@mcp.resource("post://version")
def second():
    return {"version": 2}
