"""What a handler answers, and how it is sent."""

import _wasmres_frame as frame

from . import abi
from .failure import Failure, NotFound
from .out import FLUSH_AT, body, end_body, flush, json_of, time_of

_INLINE = 4096  # bytes of a content that are sent with its fields
_BYTES = (bytes, bytearray, memoryview)


class Content:
    """One content of an answer. data is a str, bytes, or a stream: an iterable of such, of which only a few are in memory
    at a time. size is in bytes, of a stream. range_total says that data is just the range that was asked for, out of so
    many bytes. etag names this version: a client that has it gets no data."""

    kind = abi.KIND_NONE

    def __init__(self, data=None, mime_type=None, *, uri=None, etag=None, last_modified=None, meta=None, size=None,
                 range_total=None):
        self.data = data
        self.mime_type = mime_type
        self.uri = uri
        self.etag = etag
        self.last_modified = last_modified
        self.meta = meta
        self.size = size
        self.range_total = range_total


class Text(Content):
    kind = abi.KIND_TEXT


class Blob(Content):
    kind = abi.KIND_BLOB


class Unmodified(Content):
    """Says that the content is the one with the etag that the client has."""

    def __init__(self, etag):
        super().__init__(etag=etag)


def send_answer(answer, request, route):
    folder = hasattr(answer, "read_contents")
    contents = answer.read_contents() if folder else _contents_of(answer, request.uri)
    if not contents:
        raise NotFound("")
    frame.number(10, route.ttl)
    frame.number(11, route.scope)
    if not folder and len(contents) == 1 and contents[0].etag and contents[0].etag == request.if_none_match:
        return _send_unmodified(contents[0], request)
    for content in contents:
        _send(content, request, route)


def _contents_of(answer, uri):
    if answer is None:
        return ()
    if isinstance(answer, (list, tuple)) and answer and all([isinstance(a, Content) for a in answer]):
        return answer
    return (_content_of(answer, uri),)


def _content_of(answer, uri):
    if isinstance(answer, str):
        return Text(answer)
    if isinstance(answer, _BYTES):
        return Blob(answer)
    if isinstance(answer, Content):
        return answer
    if isinstance(answer, (dict, list, tuple, int, float, bool)):
        return Text(json_of(answer), "application/json")
    if hasattr(answer, "dicts"):  # rows of a database, of which some are with the host
        return Text(json_of(list(answer)), "application/json")
    if hasattr(answer, "__next__") or hasattr(answer, "send"):
        return _stream_of(answer)
    if hasattr(answer, "chunks"):  # a file
        return Blob(answer)
    raise TypeError(uri + ": the handler answered " + type(answer).__name__ + ", which is no str, bytes, dict, list or Content")


def _stream_of(stream):
    """Asks a stream for its first chunk, which says whether it is a text."""
    first = next(stream, None)
    if first is None:
        return Text("")
    return (Text if isinstance(first, str) else Blob)(_rest(first, stream))


def _rest(first, stream):
    yield first
    yield from stream


def _send(content, request, route):
    if content.kind == abi.KIND_NONE:
        return _send_unmodified(content, request)
    data, size, total = _cut(content, request, route)
    if request.max_bytes and size is not None and size > request.max_bytes:
        raise Failure("", code=abi.CODE_TOO_LARGE)
    whole = isinstance(data, (str,) + _BYTES)
    inline = whole and size <= _INLINE
    frame.begin(3)
    frame.text(1, content.uri or request.uri)
    frame.text(2, content.mime_type or route.mime_type or _USUAL[content.kind])
    if inline:
        frame.element(3 if content.kind == abi.KIND_TEXT else 4, data)
    else:
        frame.number(5, content.kind)
        frame.number(6, size)
    frame.text(7, content.etag)
    frame.text(8, time_of(content.last_modified))
    frame.text(9, json_of(content.meta))
    frame.number(11, total)
    length = frame.end()
    if inline:
        if length >= FLUSH_AT:
            flush()
        return
    flush()
    if whole:
        body(data)
    else:
        for chunk in data:
            body(chunk)
    end_body()


_USUAL = {abi.KIND_TEXT: "text/plain", abi.KIND_BLOB: "application/octet-stream"}


def _send_unmodified(content, request):
    frame.begin(3)
    frame.text(1, content.uri or request.uri)
    frame.text(7, content.etag)
    frame.number(10, 1)
    frame.end()


def _cut(content, request, route):
    """Returns data, its size and the total of a range. Bytes and streams with a size are cut to the part that is asked
    for, if the route has ranges and the handler has not done so. Texts are answered whole: the host cuts them."""
    data, size = content.data, content.size
    if isinstance(data, str):
        size = len(data.encode())
    elif isinstance(data, _BYTES):
        size = len(data)
    elif hasattr(data, "chunks"):
        size = data.size
    part = request.range if route.ranges else None
    if part is None or content.kind == abi.KIND_TEXT or content.range_total is not None or size is None:
        if hasattr(data, "chunks"):
            data = data.chunks()
        return data, size, content.range_total
    start = min(part[0], size)
    end = min(start + part[1], size) if part[1] else size
    if isinstance(data, _BYTES):
        data = memoryview(data)[start:end]
    elif hasattr(data, "chunks"):
        data = data.chunks(start, end)
    else:
        data = _part(data, start, end)
    return data, end - start, size


def _part(stream, start, end):
    at = 0
    for chunk in stream:
        if isinstance(chunk, str):
            chunk = chunk.encode()
        yield memoryview(chunk)[max(start - at, 0) : max(end - at, 0)]
        at += len(chunk)
        if at >= end:
            return
