"""Characters, and templates."""

ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits, octdigits = "0123456789", "01234567"
hexdigits = digits + "abcdefABCDEF"
punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
whitespace = " \t\n\r\x0b\x0c"
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or " ").join([word[:1].upper() + word[1:].lower() for word in s.split(sep)])


_missing = object()


class Template:
    """A text in which $name and ${name} stand for values, and $$ for a dollar sign."""

    def __init__(self, template):
        self.template = template

    def substitute(self, mapping=_missing, **named):
        return self._filled(mapping, named, False)

    def safe_substitute(self, mapping=_missing, **named):
        return self._filled(mapping, named, True)

    def get_identifiers(self):
        names = []
        for name, _ in self._parts():
            if name and name not in names:
                names.append(name)
        return names

    def is_valid(self):
        return all([name != "" for name, _ in self._parts()])

    def _filled(self, mapping, named, safe):
        out, written = [], []
        for name, text in self._parts():
            if not safe:
                written.append("$" + text if name is None and text == "$" else text if name != "" else "")
            if name is None:
                out.append(text)
            elif name == "":
                if not safe:
                    raise ValueError("Invalid placeholder in string: " + _place("".join(written)))
                out.append(text)
            elif name in named:
                out.append(str(named[name]))
            elif mapping is not _missing and name in mapping:
                out.append(str(mapping[name]))
            elif safe:
                out.append(text)
            else:
                raise KeyError(name)
        return "".join(out)

    def _parts(self):
        """Yields names of values with how they are written; None with other text, and an empty name with a dollar sign that
        stands for nothing."""
        text = self.template
        at = 0
        while True:
            dollar = text.find("$", at)
            if dollar < 0:
                yield None, text[at:]
                return
            yield None, text[at:dollar]
            at = dollar + 1
            if text[at : at + 1] == "$":
                yield None, "$"
                at += 1
                continue
            braced = text[at : at + 1] == "{"
            start = end = at + braced
            while end < len(text) and (text[end] in ascii_letters or text[end] == "_" or (end > start and text[end] in digits)):
                end += 1
            if end == start or (braced and text[end : end + 1] != "}"):
                yield "", "$"
                continue
            at = end + braced
            yield text[start:end], text[dollar:at]


def _place(before):
    line = before.count("\n") + 1
    return "line " + str(line) + ", col " + str(len(before) - before.rfind("\n"))


class Formatter:
    def format(self, format_string, *args, **named):
        return format_string.format(*args, **named)

    def vformat(self, format_string, args, named):
        return format_string.format(*args, **named)
