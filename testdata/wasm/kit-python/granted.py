"""What the kit's provider does with what a host grants."""

from wasmres import DIRECTORY_TYPE, Blob, Conflict, Dir, Text, env, fetch, kv, query

ASKS = [
    {"name": "http", "reason": "fetches pages", "optional": True},
    {"name": "sql", "reason": "queries the database main", "optional": True},
    {"name": "kv", "reason": "keeps values", "optional": True},
    {"name": "env", "reason": "shows variables", "optional": True},
    {
        "name": "fs",
        "reason": "reads and writes files",
        "optional": True,
        "params": {"paths": ["/kit"], "access": ["read", "write"]},
    },
]

files = Dir("/kit")


def folder_version(name):
    return files.folder_version(name)


def list_folder(request):
    """Lists a folder as a directory."""
    for info in files.list(request.vars["name"]):
        entry = {"uri": request.uri + "/" + info.name}
        if info.is_dir:
            entry["mime_type"] = DIRECTORY_TYPE
        yield entry


def serve_granted(kit):
    @kit.resource("kit://fetch/{+url}")
    def fetched(url):
        return Blob(fetch(url).check().body)

    @kit.resource("kit://post/{+url}")
    def post(url):
        answer = fetch(url, method="POST", headers={"X-Kit": "sent"}, body="from the kit", max_bytes=1000, timeout=1.5)
        return "\n".join([str(answer.status), answer.url, answer.header("x-kit", ""), answer.text])

    @kit.resource("kit://rows/{query}")
    def rows(request):
        return Text(lines(query("main", request.vars["query"], None, True, -7, 1.5, "té", b"\x00\xff")))

    @kit.resource("kit://kv/{key}")
    def get(key):
        return kv.get(key)

    @kit.resource("kit://keep/{key}/{value}")
    def keep(key, value):
        return put(key, value, ttl=1.5, if_absent=True)

    @kit.resource("kit://swap/{key}/{value}")
    def swap(key, value):
        entry, _ = kv.get_entry(key)
        return put(key, value, if_version=entry.version) if entry else None

    @kit.resource("kit://drop/{key}")
    def drop(key):
        kv.delete(key)
        return "gone"

    @kit.resource("kit://keys/{prefix}")
    def keys(prefix):
        return Text(entry.key + "\n" for entry in kv.keys(prefix))

    @kit.resource("kit://file/{name}")
    def read(name):
        return files.open(name)

    @kit.resource("kit://write/{name}/{text}")
    def write(name, text):
        files.write(name, text)
        return str(files.append(name, "\n").size)

    @kit.resource("kit://remove/{name}")
    def remove(name):
        files.remove(name)
        return "gone"

    @kit.resource("kit://folder/{name}", watch=(1, folder_version))
    def folder(name):
        return files.folder(name, "kit://in/")

    @kit.resource("kit://some/{name}")
    def some(name):
        return files.folder(name, "kit://in/", max_files=3, max_bytes=1000, hidden=True, mime_type=type_of)

    @kit.resource("kit://env/{name}")
    def variable(name):
        return env(name)


def type_of(name, head, is_text):
    if is_text and name.endswith(".kit"):
        return "text/x-kit"
    return "image/x-kit" if head[:3] == b"KIT" else None


def lines(rows):
    yield "|".join([name for name, _ in rows.columns])
    for values in rows.values():
        yield "\n" + "|".join([shown(value) for value in values])


def shown(value):
    """Writes a value of a database."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def put(key, value, **conditions):
    """Puts a value on conditions, and says which version is there."""
    try:
        return "put " + str(kv.put(key, value, **conditions).version)
    except Conflict as conflict:
        if conflict.entry:
            return "is " + str(conflict.entry.version)
        raise
