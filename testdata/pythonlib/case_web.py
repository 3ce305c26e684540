"""A server that the operator has granted."""

import json
import os
import urllib.error
import urllib.request


def at(path):
    return os.environ["LIBRARY_URL"] + path


def opened():
    with urllib.request.urlopen(at("/x?y=1")) as answer:
        return answer.status, json.loads(answer.read()), answer.headers["Content-Type"], answer.getheader("X-None", 1)


def posted():
    request = urllib.request.Request(at("/p"), data=b"q=1", headers={"X-A": "b"})
    request.add_header("X-B", "c")
    return request.get_method(), json.load(urllib.request.urlopen(request))


def put():
    request = urllib.request.Request(at("/p"), json.dumps({"a": 1}).encode(), {"Content-Type": "application/json"}, method="PUT")
    return json.load(urllib.request.urlopen(request))


def failed(status):
    try:
        urllib.request.urlopen(at(f"/status/{status}"))
    except urllib.error.HTTPError as error:
        return error.code, error.reason, str(error), error.read()[:10], isinstance(error, OSError)


CASES = [
    opened,
    posted,
    put,
    lambda: failed(404),
    lambda: failed(500),
    lambda: list(urllib.request.urlopen(at("/lines"))),
    lambda: urllib.request.urlopen(at("/lines")).read(3),
    lambda: urllib.request.urlopen("nope"),
    lambda: urllib.request.urlopen("ftp-x://a"),
    lambda: urllib.request.urlopen(at(""), data="text"),
]
