"""The builtin open."""

import io

from wasmres.files import File


def open(path, mode="r", encoding="utf-8"):
    """Opens a file of a granted folder for reading, by its path as the provider sees it. It is read to memory."""
    if mode in ("r", "rt"):
        return io.StringIO(File(path).text())
    if mode == "rb":
        return io.BytesIO(File(path).read())
    raise ValueError("open: files are opened for reading, with the mode r or rb: Dir of wasmres writes them")
