"""Paths in URIs, of which the host lets through none with dot segments."""

from ..failure import Invalid


class ResourceSecurity:
    """Changes nothing: the host refuses URIs whose path has dot segments or encoded slashes."""

    def __init__(self, **_):
        pass


def safe_join(base, *parts):
    """A path below base, a Path or a str. Parts that lead elsewhere fail the request as invalid."""
    for part in parts:
        part = str(part)
        if part.startswith("/") or "\0" in part or ".." in part.replace("\\", "/").split("/"):
            raise Invalid(part + " leads out of the folder")
        base = base.rstrip("/") + "/" + part if isinstance(base, str) else base / part
    return base
