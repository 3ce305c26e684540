"""Runs the provider of the file argv[1] natively, and answers requests, JSON lines, for native_test.go."""

import base64
import importlib.util
import json
import os
import sqlite3
import sys

from wasmres import Failure, Provider
from wasmres.testing import Client

FILES = {"/room": "room", "/shop": "shop", "/kit": "kit"}


def provider():
    sys.path.append(os.path.dirname(sys.argv[1]))
    spec = importlib.util.spec_from_file_location("provider", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return next(value for value in vars(module).values() if isinstance(value, Provider))


def news(method, url, headers, body):
    if not url.endswith("/news.json"):
        return 404, {}, b""
    return 200, {"Content-Type": "application/json"}, b'{"news": ["open"]}'


def content(c):
    return {
        "uri": c.uri, "mime_type": c.mime_type, "text": c.text, "etag": c.etag, "last_modified": c.last_modified,
        "blob": None if c.blob is None else base64.b64encode(c.blob).decode(), "meta": c.meta and json.dumps(c.meta),
    }


def entry(fields):
    meta = fields.get("meta")
    return {**fields, "meta": meta and json.dumps(meta)}


def answer(client, request):
    if request["kind"] == "read":
        return [content(c) for c in client.read(request["uri"]).contents]
    if request["kind"] == "complete":
        return client.complete(request["uri"], request["arg"], request["typed"], **request["known"])
    if request["kind"] == "directory":
        return [entry(e) for e in client.list_directory(request["uri"])]
    return [entry(e) for e in (client.list() if request["kind"] == "list" else client.templates())]


database = sqlite3.connect(":memory:")
database.executescript("create table users(id text, name text); insert into users values ('7', 'Ada'), ('8', 'Grace')")
client = Client(
    provider(), dirs=FILES, http=news, config={"color": "red"}, env={"HOME_TOWN": "Cork"},
    sql={"main": database},
)
results, sys.stdout = sys.stdout, sys.stderr
for line in sys.stdin:
    try:
        result = {"answer": answer(client, json.loads(line))}
    except Failure as failure:
        message = "" if failure.__cause__ else failure.message
        result = {"code": failure.code, "message": message, "retry": failure.retry_after or 0}
    print(json.dumps(result), file=results, flush=True)
