"""Types of files by the endings of their names."""

types_map = {
    ".aac": "audio/aac", ".avi": "video/x-msvideo", ".bin": "application/octet-stream", ".bmp": "image/bmp",
    ".c": "text/x-csrc", ".css": "text/css", ".csv": "text/csv", ".doc": "application/msword",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".eot": "application/vnd.ms-fontobject",
    ".epub": "application/epub+zip", ".exe": "application/octet-stream", ".flac": "audio/flac", ".gif": "image/gif",
    ".h": "text/x-chdr", ".htm": "text/html", ".html": "text/html", ".ico": "image/vnd.microsoft.icon",
    ".ics": "text/calendar", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json",
    ".m4a": "audio/mp4", ".md": "text/markdown", ".mjs": "text/javascript", ".mov": "video/quicktime", ".mp3": "audio/mpeg",
    ".mp4": "video/mp4", ".mpeg": "video/mpeg", ".mpg": "video/mpeg", ".oga": "audio/ogg", ".ogg": "audio/ogg",
    ".ogv": "video/ogg", ".otf": "font/otf", ".pdf": "application/pdf", ".png": "image/png",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".py": "text/x-python",
    ".rst": "text/x-rst", ".rtf": "application/rtf", ".sh": "application/x-sh", ".sql": "application/sql",
    ".svg": "image/svg+xml", ".tar": "application/x-tar", ".tif": "image/tiff", ".tiff": "image/tiff",
    ".toml": "application/toml", ".tsv": "text/tab-separated-values", ".ttf": "font/ttf", ".txt": "text/plain",
    ".wasm": "application/wasm", ".wav": "audio/x-wav", ".weba": "audio/webm", ".webm": "video/webm", ".webp": "image/webp",
    ".woff": "font/woff", ".woff2": "font/woff2", ".xhtml": "application/xhtml+xml", ".xls": "application/vnd.ms-excel",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xml": "text/xml", ".yaml": "application/yaml",
    ".yml": "application/yaml", ".zip": "application/zip",
}
encodings_map = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".br": "br", ".Z": "compress"}
_SHORT = {".tgz": ".tar.gz", ".tbz2": ".tar.bz2", ".txz": ".tar.xz", ".svgz": ".svg.gz"}


def init(files=None):
    pass


def add_type(type, ext, strict=True):
    types_map[ext] = type


def guess_type(url, strict=True):
    """The type and the encoding of a file, each None when it is not known."""
    from os.path import splitext

    base, ext = splitext(str(url))
    if ext.lower() in _SHORT:
        base, ext = splitext(base + _SHORT[ext.lower()])
    encoding = encodings_map.get(ext)
    if encoding:
        base, ext = splitext(base)
    return types_map.get(ext.lower()), encoding


def guess_all_extensions(type, strict=True):
    return [ext for ext, known in types_map.items() if known == type.lower()]


def guess_extension(type, strict=True):
    preferred = {"text/html": ".html", "text/plain": ".txt", "image/jpeg": ".jpg", "application/octet-stream": ".bin"}
    found = guess_all_extensions(type)
    return preferred.get(type.lower()) or (found[0] if found else None)


guess_file_type = guess_type
