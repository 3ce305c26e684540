"""Files by patterns."""

import os
from fnmatch import fnmatchcase


def glob(pathname, *, root_dir=None, recursive=False, include_hidden=False):
    return list(iglob(pathname, root_dir=root_dir, recursive=recursive, include_hidden=include_hidden))


def iglob(pathname, *, root_dir=None, recursive=False, include_hidden=False):
    parts = [p for p in pathname.split("/") if p]
    if pathname.endswith("/"):
        parts.append("")
    start = "/" if pathname.startswith("/") else ""
    yield from _matching(os.path.join(root_dir or "", start), start, parts, recursive, include_hidden)


def has_magic(pathname):
    return "*" in pathname or "?" in pathname or "[" in pathname


def escape(pathname):
    return "".join(["[" + c + "]" if c in "*?[" else c for c in pathname])


def _matching(folder, shown, parts, recursive, hidden):
    """Yields the paths below a folder that match parts, each behind what is shown of it."""
    part, rest = parts[0], parts[1:]
    if not has_magic(part):
        path, name = os.path.join(folder, part), os.path.join(shown, part)
        if rest:
            yield from _matching(path, name, rest, recursive, hidden)
        elif os.path.exists(path) if part else os.path.isdir(folder):
            yield name
        return
    any_depth = recursive and part == "**"
    if any_depth:
        if rest:
            yield from _matching(folder, shown, rest, recursive, hidden)
        elif shown:
            yield shown + "/" if not shown.endswith("/") else shown
    for entry in _entries(folder):
        if entry.name.startswith(".") and not (hidden or part.startswith(".")):
            continue
        name = os.path.join(shown, entry.name)
        if any_depth:
            if entry.is_dir():
                yield from _below(entry.path, name, parts, hidden)
            elif not rest:
                yield name
        elif fnmatchcase(entry.name, part):
            if not rest:
                yield name
            elif entry.is_dir():
                yield from _matching(entry.path, name, rest, recursive, hidden)


def _below(folder, shown, parts, hidden):
    """What ** matches inside a folder, the folder itself without a slash at its end."""
    for path in _matching(folder, shown, parts, True, hidden):
        yield shown if path == shown + "/" else path


def _entries(folder):
    try:
        return list(os.scandir(folder or "."))
    except OSError:
        return ()
