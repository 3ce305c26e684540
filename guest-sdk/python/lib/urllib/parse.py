"""URLs in parts."""

from collections import namedtuple

_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"
_WITH_PARAMS = ("", "ftp", "hdl", "prospero", "http", "imap", "https", "shttp", "rtsp", "rtspu", "sip", "sips", "mms", "sftp",
                "tel")
_WITH_NETLOC = ("", "ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp", "snews",
                "prospero", "rtsp", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git", "git+ssh", "ws", "wss")
_RELATIVE = ("", "ftp", "http", "gopher", "nntp", "imap", "wais", "file", "https", "shttp", "mms", "prospero", "rtsp", "rtspu",
             "sftp", "svn", "svn+ssh", "ws", "wss")


def quote(string, safe="/", encoding=None, errors=None):
    if isinstance(string, str):
        string = string.encode()
    return quote_from_bytes(string, safe)


def quote_from_bytes(bs, safe="/"):
    if not isinstance(bs, (bytes, bytearray)):
        raise TypeError("quote_from_bytes() expected bytes")
    safe = safe if isinstance(safe, str) else safe.decode()
    return "".join([chr(b) if b < 128 and (chr(b) in _SAFE or chr(b) in safe) else "%%%02X" % b for b in bs])


def quote_plus(string, safe="", encoding=None, errors=None):
    text = quote(string, (safe if isinstance(safe, str) else safe.decode()) + " ")
    return text.replace(" ", "+")


def unquote_to_bytes(string):
    data = string.encode() if isinstance(string, str) else string
    parts = data.split(b"%")
    out = bytearray(parts[0])
    for part in parts[1:]:
        value = _hex(part)
        if value is None:
            out += b"%" + part
        else:
            out.append(value)
            out += part[2:]
    return bytes(out)


def _hex(part):
    if len(part) < 2:
        return None
    value = 0
    for c in part[:2]:
        digit = b"0123456789abcdef".find(bytes([c | 32 if c > 57 else c]))
        if digit < 0:
            return None
        value = value * 16 + digit
    return value


def unquote(string, encoding="utf-8", errors="replace"):
    if isinstance(string, str) and "%" not in string:
        return string
    from _encodings import decode

    return decode(unquote_to_bytes(string), encoding, errors)


def unquote_plus(string, encoding="utf-8", errors="replace"):
    return unquote(string.replace("+", " "), encoding, errors)


def urlencode(query, doseq=False, safe="", encoding=None, errors=None, quote_via=quote_plus):
    pairs = query.items() if hasattr(query, "items") else query
    parts = []
    for key, value in pairs:
        key = quote_via(_text(key), safe)
        if doseq and not isinstance(value, (str, bytes)) and (isinstance(value, (list, tuple, set, dict, range)) or hasattr(value, "__iter__")):
            parts += [key + "=" + quote_via(_text(v), safe) for v in value]
        else:
            parts.append(key + "=" + quote_via(_text(value), safe))
    return "&".join(parts)


def _text(value):
    return value if isinstance(value, (str, bytes)) else str(value)


def parse_qsl(qs, keep_blank_values=False, strict_parsing=False, encoding="utf-8", errors="replace", max_num_fields=None,
              separator="&"):
    qs = qs if isinstance(qs, str) else qs.decode()
    found = []
    for part in qs.split(separator) if qs else ():
        if not part and not strict_parsing:
            continue
        name, mark, value = part.partition("=")
        if not mark and strict_parsing:
            raise ValueError("bad query field: " + repr(part))
        if value or keep_blank_values:
            found.append((unquote_plus(name, encoding, errors), unquote_plus(value, encoding, errors)))
    if max_num_fields is not None and len(found) > max_num_fields:
        raise ValueError("Max number of fields exceeded")
    return found


def parse_qs(qs, keep_blank_values=False, strict_parsing=False, encoding="utf-8", errors="replace", max_num_fields=None,
             separator="&"):
    found = {}
    for name, value in parse_qsl(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator):
        found.setdefault(name, []).append(value)
    return found


def _userinfo(self):
    return self.netloc.rsplit("@", 1)[0] if "@" in self.netloc else None


def _hostport(self):
    """The host and the text of the port, either of them None."""
    host = self.netloc.rsplit("@", 1)[-1]
    if host.startswith("["):
        host, _, rest = host[1:].partition("]")
        port = rest[1:] if rest.startswith(":") else ""
    else:
        host, _, port = host.partition(":")
    return host or None, port or None


def _username(self):
    info = _userinfo(self)
    return None if info is None else info.partition(":")[0]


def _password(self):
    info = _userinfo(self)
    return None if info is None or ":" not in info else info.partition(":")[2]


def _hostname(self):
    host = _hostport(self)[0]
    return None if host is None else host.lower()


def _port(self):
    text = _hostport(self)[1]
    if text is None:
        return None
    if not text.isdigit():
        raise ValueError("Port could not be cast to integer value as " + repr(text))
    if int(text) > 65535:
        raise ValueError("Port out of range 0-65535")
    return int(text)


class SplitResult(namedtuple("SplitResult", "scheme netloc path query fragment")):
    username, password, hostname, port = property(_username), property(_password), property(_hostname), property(_port)

    def geturl(self):
        return urlunsplit(self)


class ParseResult(namedtuple("ParseResult", "scheme netloc path params query fragment")):
    username, password, hostname, port = property(_username), property(_password), property(_hostname), property(_port)

    def geturl(self):
        return urlunparse(self)


DefragResult = namedtuple("DefragResult", "url fragment")


def urlsplit(url, scheme="", allow_fragments=True):
    url = url if isinstance(url, str) else url.decode()
    for c in "\t\r\n":
        url = url.replace(c, "")
    url = url.lstrip(" ")
    at = url.find(":")
    if at > 0 and _is_scheme(url[:at]):
        scheme, url = url[:at].lower(), url[at + 1 :]
    netloc = query = fragment = ""
    if url.startswith("//"):
        end = len(url)
        for c in "/?#":
            found = url.find(c, 2)
            end = min(end, found) if found >= 0 else end
        netloc, url = url[2:end], url[end:]
        if ("[" in netloc) != ("]" in netloc):
            raise ValueError("Invalid IPv6 URL")
    if allow_fragments and "#" in url:
        url, fragment = url.split("#", 1)
    if "?" in url:
        url, query = url.split("?", 1)
    return SplitResult(scheme, netloc, url, query, fragment)


def _is_scheme(text):
    return "a" <= text[0].lower() <= "z" and not [c for c in text if not ("a" <= c.lower() <= "z" or c in "0123456789+-.")]


def urlparse(url, scheme="", allow_fragments=True):
    scheme, netloc, path, query, fragment = urlsplit(url, scheme, allow_fragments)
    params = ""
    last = path.rfind("/")
    if scheme in _WITH_PARAMS and path.find(";", last if last >= 0 else 0) >= 0:
        at = path.find(";", last if last >= 0 else 0)
        path, params = path[:at], path[at + 1 :]
    return ParseResult(scheme, netloc, path, params, query, fragment)


def urlunsplit(parts):
    scheme, netloc, path, query, fragment = parts
    if netloc or (scheme and scheme in _WITH_NETLOC and path[:2] != "//"):
        if path and path[:1] != "/":
            path = "/" + path
        path = "//" + netloc + path
    url = scheme + ":" + path if scheme else path
    url += "?" + query if query else ""
    return url + ("#" + fragment if fragment else "")


def urlunparse(parts):
    scheme, netloc, path, params, query, fragment = parts
    return urlunsplit((scheme, netloc, path + (";" + params if params else ""), query, fragment))


def urljoin(base, url, allow_fragments=True):
    if not base or not url:
        return url or base
    b = urlparse(base, "", allow_fragments)
    u = urlparse(url, b.scheme, allow_fragments)
    if u.scheme != b.scheme or u.scheme not in _RELATIVE:
        return url
    if u.scheme in _WITH_NETLOC and u.netloc:
        return urlunparse(u)
    netloc = b.netloc if u.scheme in _WITH_NETLOC else u.netloc
    if not u.path and not u.params:
        return urlunparse((u.scheme, netloc, b.path, b.params, u.query or b.query, u.fragment))
    return urlunparse((u.scheme, netloc, _joined(b.path, u.path), u.params, u.query, u.fragment))


def _joined(base, path):
    above = base.split("/")
    if above[-1] != "":
        above.pop()
    if path.startswith("/"):
        segments = path.split("/")
    else:
        segments = above + path.split("/")
        segments[1:-1] = [s for s in segments[1:-1] if s]
    resolved = []
    for segment in segments:
        if segment == "..":
            if resolved:
                resolved.pop()
        elif segment != ".":
            resolved.append(segment)
    if segments[-1] in (".", ".."):
        resolved.append("")
    return "/".join(resolved) or "/"


def urldefrag(url):
    if "#" not in url:
        return DefragResult(url, "")
    parts = urlsplit(url)
    return DefragResult(urlunsplit((parts.scheme, parts.netloc, parts.path, parts.query, "")), parts.fragment)
