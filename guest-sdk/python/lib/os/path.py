"""Paths, as text."""

import _fs
from _fs import fspath

sep, altsep, extsep, pathsep, curdir, pardir, devnull = "/", None, ".", ":", ".", "..", "/dev/null"


def join(path, *more):
    path = fspath(path)
    for part in more:
        part = fspath(part)
        if part.startswith("/"):
            path = part
        else:
            path += part if not path or path.endswith("/") else "/" + part
    return path


def split(path):
    path = fspath(path)
    at = path.rfind("/") + 1
    head, tail = path[:at], path[at:]
    if head.strip("/"):
        head = head.rstrip("/")
    return head, tail


def dirname(path):
    return split(path)[0]


def basename(path):
    return split(path)[1]


def splitext(path):
    path = fspath(path)
    start = path.rfind("/") + 1
    at = path.rfind(".")
    if at <= start or not path[start:at].strip("."):
        return path, ""
    return path[:at], path[at:]


def splitdrive(path):
    return "", fspath(path)


def isabs(path):
    return fspath(path).startswith("/")


def normcase(path):
    return fspath(path)


def normpath(path):
    path = fspath(path)
    root = "" if not path.startswith("/") else "//" if path.startswith("//") and not path.startswith("///") else "/"
    parts = []
    for part in path.split("/"):
        if part == ".." and (parts and parts[-1] != ".." or root):
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return root + "/".join(parts) or "."


def abspath(path):
    return normpath(join("/", path))


def realpath(path, *, strict=False):
    return abspath(path)


def expanduser(path):
    return fspath(path)


def expandvars(path):
    from .environment import environ

    path = fspath(path)
    if "$" not in path:
        return path
    parts = path.split("$")
    text = parts[0]
    for part in parts[1:]:
        if part.startswith("{") and "}" in part:
            name, rest = part[1:].split("}", 1)
            text += environ.get(name, "${" + name + "}") + rest
            continue
        end = 0
        while end < len(part) and (part[end].isalpha() or part[end].isdigit() or part[end] == "_"):
            end += 1
        text += environ.get(part[:end], "$" + part[:end]) + part[end:] if end else "$" + part
    return text


def relpath(path, start="."):
    if not path:
        raise ValueError("no path specified")
    of = [p for p in abspath(path).split("/") if p]
    base = [p for p in abspath(start).split("/") if p]
    same = 0
    while same < len(of) and same < len(base) and of[same] == base[same]:
        same += 1
    return "/".join([".."] * (len(base) - same) + of[same:]) or "."


def commonprefix(paths):
    if not paths:
        return ""
    low, high = min(paths), max(paths)
    for i in range(len(low)):
        if i >= len(high) or low[i] != high[i]:
            return low[:i]
    return low


def commonpath(paths):
    paths = [fspath(p) for p in paths]
    if not paths:
        raise ValueError("commonpath() arg is an empty sequence")
    if len({p.startswith("/") for p in paths}) > 1:
        raise ValueError("Can't mix absolute and relative paths")
    split_paths = [[p for p in path.split("/") if p and p != "."] for path in paths]
    low, high = min(split_paths), max(split_paths)
    common = low
    for i in range(len(low)):
        if i >= len(high) or low[i] != high[i]:
            common = low[:i]
            break
    return ("/" if paths[0].startswith("/") else "") + "/".join(common)


def _info(path):
    try:
        return _fs.stat(path)
    except (OSError, ValueError):
        return None


def exists(path):
    return _info(path) is not None


lexists = exists


def isfile(path):
    info = _info(path)
    return info is not None and not info.is_dir


def isdir(path):
    info = _info(path)
    return info is not None and info.is_dir


def islink(path):
    return False


def ismount(path):
    return False


def samefile(one, other):
    return abspath(one) == abspath(other)


def getsize(path):
    return _fs.stat(path).size


def getmtime(path):
    return _fs.stat(path).modified


getctime = getatime = getmtime
