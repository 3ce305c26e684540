"""FastMCP's names for a provider."""

from pathlib import Path
from typing import Any, Awaitable, Callable, Generic, Iterable, Iterator, Mapping, ParamSpec, Sequence, TypeVar, overload

from .. import Content, Denied, Failure, Invalid, NotFound, Provider, Request

P = ParamSpec("P")
R = TypeVar("R")

ResourceError = Failure
FastMCPError = Failure
NotFoundError = NotFound
ResourceNotFoundError = NotFound
ValidationError = Invalid
AuthorizationError = Denied

class Annotations:
    def __init__(
        self, audience: Sequence[str] | None = None, priority: float | None = None, **hints: Any
    ) -> None: ...

class Icon:
    src: str
    mimeType: str | None
    sizes: Sequence[str] | str | None
    theme: str | None
    def __init__(
        self,
        src: str,
        mimeType: str | None = None,
        sizes: Sequence[str] | str | None = None,
        theme: str | None = None,
        mime_type: str | None = None,
    ) -> None: ...

class PromptReference:
    name: str

class ResourceTemplateReference:
    uri: str
    def __init__(self, uri: str) -> None: ...

class CompletionArgument:
    name: str
    value: str
    def __init__(self, name: str, value: str) -> None: ...

class CompletionContext:
    arguments: dict[str, str] | None
    def __init__(self, arguments: dict[str, str] | None) -> None: ...

class Completion:
    values: list[str]
    total: int | None
    hasMore: bool | None
    def __init__(
        self,
        values: list[str],
        total: int | None = None,
        hasMore: bool | None = None,
        has_more: bool | None = None,
    ) -> None: ...

class ResourceContent(Content):
    """One content of an answer: a str, bytes, or what is sent as JSON."""

    content: Any
    def __init__(self, content: Any, mime_type: str | None = None, meta: Mapping[str, Any] | None = None) -> None: ...

ReadResourceContents = ResourceContent

class ResourceResult(list[ResourceContent]):
    """A list of contents. The first one gets the meta of the result."""

    contents: list[ResourceContent]
    meta: Mapping[str, Any] | None
    def __init__(
        self, contents: str | bytes | Sequence[Content | str | bytes], meta: Mapping[str, Any] | None = None
    ) -> None: ...

ResourceResponse = ResourceResult

class Resource:
    """A resource that add_resource takes. A class of a provider's own has a method read."""

    uri: str
    name: str | None
    mime_type: str | None
    def __init__(
        self,
        uri: str,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        tags: Iterable[str] | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        meta: Mapping[str, Any] | None = None,
        enabled: bool = True,
        **fields: Any,
    ) -> None: ...
    @staticmethod
    def from_function(fn: Callable[..., Any], uri: str, **options: Any) -> FunctionResource[..., Any]: ...
    def read(self) -> Any: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...

class TextResource(Resource):
    text: str

class BinaryResource(Resource):
    data: bytes

class FileResource(Resource):
    """A file that the operator has granted, by its path."""

    path: Any
    is_binary: bool

class HttpResource(Resource):
    """What a server answers that the operator has granted."""

    url: str

class DirectoryResource(Resource):
    """The names of the files of a folder that the operator has granted, as JSON."""

    path: Any
    recursive: bool
    pattern: str | None
    def list_files(self, below: str = ".") -> Iterator[str]: ...

class FunctionResource(Resource, Generic[P, R]):
    """A function that answers for a resource or template. It is called as before."""

    fn: Callable[P, R]
    __name__: str
    def __init__(self, fn: Callable[P, R], uri: str, **options: Any) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

class _Decorator:
    def __call__(self, function: Callable[P, R] | FunctionResource[P, R]) -> FunctionResource[P, R]: ...

def resource(
    uri: str,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    tags: Iterable[str] | None = None,
    enabled: bool = True,
    annotations: Annotations | Mapping[str, Any] | None = None,
    icons: Sequence[Icon | Mapping[str, Any]] | None = None,
    meta: Mapping[str, Any] | None = None,
    version: str | int | None = None,
) -> _Decorator:
    """Decorates a function that add_resource gets later."""

class Context(Request):
    """A parameter of a handler with this annotation gets it. Its logs go to the operator."""

    @property
    def fastmcp(self) -> FastMCP: ...
    @property
    def request_id(self) -> str: ...
    @property
    def client_id(self) -> str | None: ...
    @property
    def request_context(self) -> Context: ...
    def log(self, message: str, level: str = "info", **_: Any) -> Awaitable[None]: ...
    def debug(self, message: object, **_: Any) -> Awaitable[None]: ...  # type: ignore[override]
    def info(self, message: object, **_: Any) -> Awaitable[None]: ...  # type: ignore[override]
    def warning(self, message: object, **_: Any) -> Awaitable[None]: ...  # type: ignore[override]
    def error(self, message: object, **_: Any) -> Awaitable[None]: ...  # type: ignore[override]
    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]: ...
    async def read_resource(self, uri: str) -> ResourceResult: ...
    async def get_state(self, key: str) -> Any: ...
    async def set_state(self, key: str, value: Any) -> None: ...
    async def delete_state(self, key: str) -> None: ...

def get_context() -> Context: ...
def CurrentContext() -> Any: ...

class FastMCP(Provider):
    """A provider. What FastMCP's constructor takes beside this is left out: wasmres is the server."""

    name: str
    instructions: str | None
    settings: Any
    def __init__(
        self,
        name: str = "provider",
        instructions: str | None = None,
        version: str | None = None,
        asks: Sequence[str | Mapping[str, Any]] = (),
        prefixes: str | Sequence[str] = (),
        title: str | None = None,
        on_duplicate_resources: str | None = None,
        on_duplicate: str | None = None,
        auth: None = None,
        middleware: None = None,
        lifespan: None = None,
        **_: Any,
    ) -> None: ...
    def resource(  # type: ignore[override]
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        tags: Iterable[str] | None = None,
        enabled: bool = True,
        annotations: Annotations | Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        meta: Mapping[str, Any] | None = None,
        version: str | int | None = None,
        security: ResourceSecurity | None = None,
    ) -> _Decorator: ...
    def add_resource(self, resource: Resource, key: str | None = None) -> Resource: ...  # type: ignore[override]
    def add_template(self, template: Resource) -> Resource: ...
    def remove_resource(self, uri: str) -> None: ...
    def enable(
        self,
        *,
        names: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        only: bool = False,
    ) -> FastMCP: ...
    def disable(
        self,
        *,
        names: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
    ) -> FastMCP: ...
    def completion(self) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
    def add_transform(self, transform: ResourcesAsTools) -> None: ...

MCPServer = FastMCP

class ResourceSecurity:
    """Changes nothing: the host refuses URIs whose path has dot segments or encoded slashes."""

    def __init__(self, **_: Any) -> None: ...

@overload
def safe_join(base: str, *parts: str) -> str: ...
@overload
def safe_join(base: Path, *parts: str) -> Path: ...

class ResourcesAsTools:
    """Does nothing: an operator offers resources as tools with --tools."""

    def __init__(self, server: FastMCP) -> None: ...
