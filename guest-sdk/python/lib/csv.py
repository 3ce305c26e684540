"""Tables of text whose values are separated by commas."""

QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = 0, 1, 2, 3


class Error(Exception):
    pass


class Dialect:
    delimiter, quotechar, escapechar, doublequote, skipinitialspace = ",", '"', None, True, False
    lineterminator, quoting, strict = "\r\n", QUOTE_MINIMAL, False


class excel(Dialect):
    pass


class excel_tab(Dialect):
    delimiter = "\t"


class unix_dialect(Dialect):
    quoting = QUOTE_ALL
    lineterminator = "\n"


_dialects = {"excel": excel, "excel-tab": excel_tab, "unix": unix_dialect}
_OPTIONS = ("delimiter", "quotechar", "escapechar", "doublequote", "skipinitialspace", "lineterminator", "quoting", "strict")
_limit = 131072


def field_size_limit(limit=None):
    global _limit
    before = _limit
    if limit is not None:
        _limit = limit
    return before


def register_dialect(name, dialect=None, **options):
    _dialects[name] = _made(dialect or excel, options)


def unregister_dialect(name):
    get_dialect(name)
    del _dialects[name]


def get_dialect(name):
    if name not in _dialects:
        raise Error("unknown dialect")
    return _dialects[name]


def list_dialects():
    return list(_dialects)


def _made(dialect, options):
    base = get_dialect(dialect) if isinstance(dialect, str) else dialect
    made = Dialect()
    for name in _OPTIONS:
        setattr(made, name, options.pop(name) if name in options else getattr(base, name))
    for name in options:
        raise TypeError("'" + name + "' is an invalid keyword argument for this function")
    if not isinstance(made.delimiter, str) or len(made.delimiter) != 1:
        raise TypeError('"delimiter" must be a 1-character string')
    return made


def reader(csvfile, dialect="excel", **options):
    return _Reader(csvfile, _made(dialect, options))


class _Reader:
    def __init__(self, lines, dialect):
        self._lines = iter(lines)
        self.dialect = dialect
        self.line_num = 0

    def __iter__(self):
        return self

    def __next__(self):
        d = self.dialect
        line = self._next_line()
        if d.quotechar not in line and d.escapechar is None and d.quoting != QUOTE_NONNUMERIC and not d.skipinitialspace:
            line = line.rstrip("\r\n") if line[-1:] in "\r\n" else line
            return line.split(d.delimiter) if line else []
        return self._parse(line)

    def _next_line(self):
        line = next(self._lines)
        if not isinstance(line, str):
            raise Error("iterator should return strings, not " + type(line).__name__ + " (the file should be opened in text mode)")
        self.line_num += 1
        return line

    def _parse(self, line):
        d, row, field = self.dialect, [], []
        put = field.append
        quoted = False  # this field began with a quote
        inside = False  # the quotes are open
        start, i = True, 0
        numeric = d.quoting == QUOTE_NONNUMERIC
        while True:
            if i >= len(line):
                if not inside:
                    break
                try:
                    line, i = self._next_line(), 0
                except StopIteration:
                    if d.strict:
                        raise Error("unexpected end of data")
                    break
                continue
            c = line[i]
            i += 1
            if c == d.escapechar and c is not None:
                put(line[i : i + 1] or "\n")
                i += 1
                start = False
            elif inside:
                if c != d.quotechar:
                    end = self._plain(line, i)
                    put(line[i - 1 : end])
                    i = end
                elif d.doublequote and line[i : i + 1] == d.quotechar:
                    put(c)
                    i += 1
                else:
                    inside = False
            elif c == d.quotechar and start and d.quoting != QUOTE_NONE:
                quoted = inside = True
                start = False
            elif c == d.delimiter:
                row.append(_value(field, quoted, numeric))
                field.clear()
                quoted, start = False, True
            elif c in "\r\n":
                break
            elif start and c == " " and d.skipinitialspace:
                pass
            else:
                if quoted and d.strict:
                    raise Error("'" + d.delimiter + "' expected after '" + d.quotechar + "'")
                put(c)
                start = False
        row.append(_value(field, quoted, numeric))
        return row if len(row) > 1 or row[0] != "" or quoted else []

    def _plain(self, line, i):
        """Where text inside of quotes ends that is taken as it is."""
        d = self.dialect
        if d.escapechar is not None:
            return i
        end = line.find(d.quotechar, i)
        return len(line) if end < 0 else end


def _value(field, quoted, numeric):
    text = "".join(field)
    if len(text) > _limit:
        raise Error("field larger than field limit (" + str(_limit) + ")")
    return float(text) if numeric and not quoted and text else text


def writer(csvfile, dialect="excel", **options):
    return _Writer(csvfile, _made(dialect, options))


class _Writer:
    def __init__(self, file, dialect):
        self._write = file.write
        self.dialect = dialect

    def writerow(self, row):
        d = self.dialect
        fields = [self._field(value) for value in row]
        if len(fields) == 1 and fields[0] == "" and d.quoting != QUOTE_NONE:
            fields[0] = d.quotechar * 2
        return self._write(d.delimiter.join(fields) + d.lineterminator)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)

    def _field(self, value):
        d = self.dialect
        text = "" if value is None else value if isinstance(value, str) else repr(value) if isinstance(value, float) else str(value)
        if d.quoting == QUOTE_NONE:
            return self._escaped(text)
        quoted = d.quoting == QUOTE_ALL or (d.quoting == QUOTE_NONNUMERIC and not isinstance(value, (int, float)))
        for c in text:
            if c == d.delimiter or c == d.quotechar or c in "\r\n" or c == d.escapechar:
                quoted = True
                break
        if not quoted:
            return text
        q = d.quotechar
        if d.doublequote:
            text = text.replace(q, q + q)
        elif d.escapechar and q in text:
            text = text.replace(d.escapechar, d.escapechar * 2).replace(q, d.escapechar + q)
        elif q in text:
            raise Error("need to escape, but no escapechar set")
        return q + text + q

    def _escaped(self, text):
        d, parts = self.dialect, []
        for c in text:
            if c == d.delimiter or c == d.quotechar or c in "\r\n" or c == d.escapechar:
                if d.escapechar is None:
                    raise Error("need to escape, but no escapechar set")
                parts.append(d.escapechar)
            parts.append(c)
        return "".join(parts)


class DictReader:
    def __init__(self, f, fieldnames=None, restkey=None, restval=None, dialect="excel", **options):
        self.reader = reader(f, dialect, **options)
        self.dialect = dialect
        self.restkey, self.restval = restkey, restval
        self._names = fieldnames

    @property
    def fieldnames(self):
        if self._names is None:
            try:
                self._names = next(self.reader)
            except StopIteration:
                pass
        return self._names

    @property
    def line_num(self):
        return self.reader.line_num

    def __iter__(self):
        return self

    def __next__(self):
        names = self.fieldnames
        row = next(self.reader)
        while not row:
            row = next(self.reader)
        found = dict(zip(names, row))
        if len(row) > len(names):
            found[self.restkey] = row[len(names) :]
        for name in names[len(row) :]:
            found[name] = self.restval
        return found


class DictWriter:
    def __init__(self, f, fieldnames, restval="", extrasaction="raise", dialect="excel", **options):
        self.fieldnames = fieldnames
        self.restval = restval
        if extrasaction not in ("raise", "ignore"):
            raise ValueError("extrasaction (" + extrasaction + ") must be 'raise' or 'ignore'")
        self.extrasaction = extrasaction
        self.writer = writer(f, dialect, **options)

    def writeheader(self):
        return self.writer.writerow(self.fieldnames)

    def writerow(self, row):
        if self.extrasaction == "raise":
            wrong = [repr(name) for name in row if name not in self.fieldnames]
            if wrong:
                raise ValueError("dict contains fields not in fieldnames: " + ", ".join(wrong))
        return self.writer.writerow([row.get(name, self.restval) for name in self.fieldnames])

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)
