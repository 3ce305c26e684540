"""Resources that are objects, and answers that are."""

from ..content import Content, Text
from ..failure import NotFound
from ..files import Dir, File
from ..handler import settled
from ..http import fetch
from ..out import json_of
from .. import abi

_BYTES = (bytes, bytearray, memoryview)


class ResourceContent(Content):
    """One content of an answer: a str, bytes, or what is sent as JSON."""

    def __init__(self, content, mime_type=None, meta=None):
        if isinstance(content, _BYTES):
            self.kind = abi.KIND_BLOB
        else:
            self.kind = abi.KIND_TEXT
            if not isinstance(content, str):
                content, mime_type = json_of(content), mime_type or "application/json"
        super().__init__(content, mime_type, meta=meta)

    @property
    def content(self):
        return self.data


class ResourceResult(list):
    """A list of contents. The first one gets the meta of the result, as MCP's answers of wasmres have it by content."""

    def __init__(self, contents, meta=None):
        if not isinstance(contents, (list, tuple)):
            contents = [contents]
        super().__init__([c if isinstance(c, Content) else ResourceContent(c) for c in contents])
        self.meta = meta
        if meta and self:
            both = dict(meta)
            both.update(self[0].meta or {})
            self[0].meta = both

    @property
    def contents(self):
        return list(self)


def result_of(answer, uri):
    """What a handler has answered, as a ResourceResult."""
    if answer is None:
        raise NotFound("there is no resource " + uri)
    if isinstance(answer, ResourceResult):
        return answer
    if isinstance(answer, Content):
        answer = answer.data
    if hasattr(answer, "__next__"):
        answer = list(answer)
        answer = ("" if isinstance(answer[0], str) else b"").join(answer) if answer else ""
    return ResourceResult(answer if isinstance(answer, (str,) + _BYTES) else [ResourceContent(answer)])


class Resource:
    """A resource that add_resource takes. A class of a provider's own has a method read."""

    mime_type = None

    def __init__(self, uri, name=None, title=None, description=None, mime_type=None, tags=None, annotations=None,
                 icons=None, meta=None, enabled=True, **fields):
        self.uri = str(uri)
        self.options = {"name": name, "title": title, "description": description, "tags": tags, "icons": icons,
                        "annotations": annotations, "meta": meta, "enabled": enabled}
        self.name = name
        if mime_type is not None:
            self.mime_type = mime_type
        self.server = None  # that it was added to
        self.fields = fields
        for field, value in fields.items():
            setattr(self, field, value)

    @staticmethod
    def from_function(fn, uri, **options):
        return FunctionResource(fn, uri, **options)

    def read(self):
        raise TypeError(self.uri + ": the class of the resource has no method read")

    def enable(self):
        self.server.enable(keys=[self.key])

    def disable(self):
        self.server.disable(keys=[self.key])

    @property
    def key(self):
        return ("template:" if "{" in self.uri else "resource:") + self.uri


class TextResource(Resource):
    mime_type = "text/plain"
    text = ""

    def read(self):
        return self.text


class BinaryResource(Resource):
    mime_type = "application/octet-stream"
    data = b""

    def read(self):
        return self.data


class FileResource(Resource):
    """A file that the operator has granted, by its path."""

    mime_type = "text/plain"
    is_binary = False

    def read(self):
        file = File(str(self.path))
        return file if self.is_binary or not self.mime_type.startswith("text/") else Text(file)


class HttpResource(Resource):
    """What a server answers that the operator has granted."""

    mime_type = "application/json"

    def read(self):
        return Text(fetch(str(self.url)).check().body)


class DirectoryResource(Resource):
    """The names of the files of a folder that the operator has granted, as JSON."""

    mime_type = "application/json"
    recursive = False
    pattern = None

    def read(self):
        return json_of({"files": sorted(self.list_files())})

    def list_files(self, below="."):
        for info in Dir(str(self.path)).list(below):
            path = info.name if below == "." else below + "/" + info.name
            if not info.is_dir:
                if matches(info.name, self.pattern or "*"):
                    yield path
            elif self.recursive:
                yield from self.list_files(path)


class FunctionResource(Resource):
    """A function that answers for a resource or template. It is called as before."""

    def __init__(self, fn, uri, **options):
        super().__init__(uri, **options)
        self.fn = fn
        self.name = self.options["name"] = self.name or getattr(fn, "__name__", None)
        self.__name__ = self.name

    def __call__(self, *args, **named):
        return self.fn(*args, **named)

    def read(self):
        return settled(self.fn())


def resource(uri, **options):
    """Decorates a function that add_resource gets later."""

    def decorate(fn):
        return FunctionResource(fn, uri, **options)

    return decorate


def matches(name, pattern):
    """Whether a name has the form of a pattern with * and ?."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any([matches(name[i:], pattern[1:]) for i in range(len(name) + 1)])
    return bool(name) and pattern[0] in ("?", name[0]) and matches(name[1:], pattern[1:])
