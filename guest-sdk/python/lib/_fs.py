"""Files of the folders that the operator has granted, with the errors of the standard library. Paths are those that the
provider sees, and the current directory is the root."""

import _builtins

from wasmres import abi, files
from wasmres.failure import Failure

PIECE = 512 << 10  # bytes that one call writes

_ERRORS = {
    abi.CODE_NOT_FOUND: (_builtins.FileNotFoundError, 2, "No such file or directory"),
    abi.CODE_DENIED: (_builtins.PermissionError, 13, "Permission denied"),
    abi.CODE_INVALID_PARAMS: (_builtins._OSError, 22, "Invalid argument"),
    abi.CODE_TOO_LARGE: (_builtins._OSError, 27, "File too large"),
    abi.CODE_UNAVAILABLE: (_builtins._OSError, 28, "No space left on device"),
}


def fspath(path):
    """The text of a path."""
    if isinstance(path, str):
        return path
    if isinstance(path, bytes):
        return path.decode()
    if hasattr(path, "__fspath__"):
        return path.__fspath__()
    raise TypeError("expected str, bytes or os.PathLike object, not " + type(path).__name__)


def absolute(path):
    """A path as the host knows it: from the root, without . and .. ."""
    path, parts = fspath(path), []
    if "\0" in path:
        raise ValueError("embedded null byte")
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)


def error_of(failure, path):
    """The OSError that stands for a failure."""
    kind, number, text = _ERRORS.get(failure.code) or (_builtins._OSError, 5, "Input/output error")
    return error(kind, number, text, path, failure)


def error(kind, number, text, path, failure=None):
    raised = kind(number, text, fspath(path))
    raised.failure = failure
    return raised


def is_a_directory(path):
    return error(_builtins.IsADirectoryError, 21, "Is a directory", path)


def not_a_directory(path):
    return error(_builtins.NotADirectoryError, 20, "Not a directory", path)


def exists_already(path):
    return error(_builtins.FileExistsError, 17, "File exists", path)


def stat(path):
    """Describes a file or folder: a FileInfo."""
    try:
        return files.stat(absolute(path))
    except Failure as failure:
        raised = error_of(failure, path)
    raise raised


def found(path):
    """The same, None where there is no such file."""
    try:
        return stat(path)
    except _builtins.FileNotFoundError:
        return None


def entries(path):
    """Describes the entries of a folder, by name."""
    try:
        return list(files.list_folder(absolute(path)))
    except Failure as failure:
        raised = error_of(failure, path)
        if failure.code == abi.CODE_INVALID_PARAMS:
            raised = not_a_directory(path)
    raise raised


def read(path):
    """The bytes of a file."""
    try:
        info = files.stat(absolute(path))
        if not info.is_dir:
            return files.File(absolute(path)).read()
        raised = is_a_directory(path)
    except Failure as failure:
        raised = error_of(failure, path)
    raise raised


def write(path, data, append=False):
    """Writes bytes to a file, or adds them to its end. The host makes the folders above it. More than a piece is not
    written at once."""
    try:
        start = 0
        while start == 0 or start < len(data):
            files.write(absolute(path), data[start : start + PIECE], append=append or start > 0)
            start += PIECE
        return
    except Failure as failure:
        raised = error_of(failure, path)
    info = found(path) if raised.errno == 22 else None
    raise is_a_directory(path) if info and info.is_dir else raised


def remove(path):
    """Removes a file or an empty folder."""
    try:
        files.remove(absolute(path))
        return
    except Failure as failure:
        raised = error_of(failure, path)
    raise raised
