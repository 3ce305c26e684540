"""Runs a provider under CPython, for its tests: Client is what wasmres is otherwise, host and client in one."""

import sqlite3
from os import PathLike
from typing import Any, Callable, List, Literal, Mapping, MutableMapping

from .. import Provider

Server = Callable[[str, str, dict[str, str], bytes], tuple[int, Mapping[str, str], bytes | str]]

class Content:
    """One content: text is a str or None, blob is bytes or None. not_modified says that the client has this etag."""

    uri: str
    mime_type: str
    text: str | None
    blob: bytes | None
    size: int | None
    etag: str | None
    last_modified: str | None
    meta: dict[str, Any] | None
    not_modified: bool
    range_total: int | None

class Answer:
    """All contents, for how long in seconds and by whom they may be cached, and the progress that was told."""

    contents: list[Content]
    ttl: float
    public: bool
    progress: list[tuple[float, float | None, str | None]]
    @property
    def content(self) -> Content: ...
    @property
    def text(self) -> str: ...
    @property
    def blob(self) -> bytes: ...
    @property
    def mime_type(self) -> str: ...
    def json(self) -> Any: ...

class Client:
    """Reads resources of a provider, which has these grants, and none without: config and env are dicts; dirs are
    directories by the paths of the provider, write_dirs may be written, too; http is True for real servers, or a function;
    sql has SQLite databases by connection; kv is a dict with the values."""

    logs: list[tuple[str, str]]
    updated: list[str]
    def __init__(
        self,
        app: Provider,
        *,
        config: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        dirs: Mapping[str, str | PathLike[str]] | None = None,
        write_dirs: Mapping[str, str | PathLike[str]] | None = None,
        http: Literal[True] | Server | None = None,
        sql: Mapping[str, str | PathLike[str] | sqlite3.Connection] | None = None,
        kv: MutableMapping[str, bytes] | None = None,
    ) -> None: ...
    def read(
        self,
        uri: str,
        *,
        range: tuple[int, int] | None = None,
        if_none_match: str | None = None,
        max_bytes: int | None = None,
        meta: Mapping[str, Any] | None = None,
        principal: Mapping[str, Any] | None = None,
    ) -> Answer: ...
    def list(self) -> List[dict[str, Any]]: ...
    def list_directory(self, uri: str) -> List[dict[str, Any]]: ...
    def templates(self) -> List[dict[str, Any]]: ...
    def complete(self, template: str, variable: str, typed: str = "", **known: str) -> List[str]: ...
    def version(self, uri: str) -> str | None: ...
