"""JSON, CSV and base64."""

import json, csv, base64, io, binascii


class X:
    pass


def w(rows, **k):
    b = io.StringIO()
    csv.writer(b, **k).writerows(rows)
    return b.getvalue()


def dw():
    b = io.StringIO()
    x = csv.DictWriter(b, ["a", "b"])
    x.writeheader()
    x.writerow({"a": 1, "b": "x,y"})
    x.writerows([{"a": None}])
    return b.getvalue()


circ = []
circ.append(circ)


class E(json.JSONEncoder):
    def default(self, o):
        return "E" + type(o).__name__
CASES = [
    lambda: json.dumps({"b": 1, "a": [1, {"x": []}]}, indent=2, sort_keys=True),
    lambda: json.dumps([1, 2], indent="\t"),
    lambda: json.dumps([1, (2, 3)], separators=(",", ":")),
    lambda: json.dumps({"a": []}, indent=4),
    lambda: json.dumps([], indent=1),
    lambda: json.dumps("é", ensure_ascii=False),
    lambda: json.dumps(X()),
    lambda: json.dumps({"x": {1, 2}}),
    lambda: json.dumps(X(), default=lambda o: "X"),
    lambda: json.dumps([X()], cls=E),
    lambda: json.dumps(circ),
    lambda: json.dumps(float("nan")),
    lambda: json.dumps(float("inf"), allow_nan=False),
    lambda: json.dumps({(1,): 2}),
    lambda: json.dumps({(1,): 2, "a": 1}, skipkeys=True),
    lambda: json.dumps(b"x"),
    lambda: json.dumps("\x08\x0c\r\t/"),
    lambda: json.dumps(10 ** 30),
    lambda: json.dumps(1e+100),
    lambda: json.dumps(0.1),
    lambda: json.dumps([[[]]], indent=None),
    lambda: json.loads(""),
    lambda: json.loads("{'a':1}"),
    lambda: json.loads('{"a":1} x'),
    lambda: json.loads('"abc'),
    lambda: json.loads("[1,\n  nope]"),
    lambda: json.loads(b"[1]"),
    lambda: json.loads("[1.5]", parse_float=str),
    lambda: json.loads('{"a":{"b":1}}', object_hook=lambda d: list(d)),
    lambda: json.loads('{"a":1,"b":2}', object_pairs_hook=list),
    lambda: json.loads("-"),
    lambda: json.loads("1e5"),
    lambda: json.loads(5),
    lambda: json.loads("NaN"),
    lambda: json.loads("[tru]"),
    lambda: json.loads("1 2"),
    lambda: json.loads("[1]]"),
    lambda: json.loads("-Infinity"),
    lambda: json.loads("123abc"),
    lambda: json.load(io.StringIO("[1]")),
    lambda: isinstance(json.JSONDecodeError("a", "b", 0), ValueError),
    lambda: list(csv.reader(["a,b,c", '1,"x,y",3', '"q""q",,', "", '"multi\n', 'line",2', " a , b"])),
    lambda: list(csv.reader(io.StringIO("a;b\r\n1;2\r\n"), delimiter=";")),
    lambda: list(csv.DictReader(["a,b", "1,2", "3", "4,5,6", ""])),
    lambda: list(csv.reader(['a, "b"'], skipinitialspace=True)),
    lambda: list(csv.reader(['1,"a",2.5'], quoting=csv.QUOTE_NONNUMERIC)),
    lambda: list(csv.reader(["a\\,b,c"], escapechar='\\')),
    lambda: list(csv.reader(["a\tb"], dialect="excel-tab")),
    lambda: list(csv.reader(["a|b"], dialect="nope")),
    lambda: list(csv.reader(['a"b,c'])),
    lambda: list(csv.reader(['"a"b,c'])),
    lambda: list(csv.reader(['""'])),
    lambda: list(csv.reader(["'a,b',c"], quotechar="'")),
    lambda: list(csv.reader(['"abc'])),
    lambda: w([[1, "a,b", 'q"q', None, 2.5, "x\ny", ""], [""], []]),
    lambda: w([[1, "a"]], quoting=csv.QUOTE_ALL),
    lambda: w([[1, "a"]], quoting=csv.QUOTE_NONNUMERIC),
    lambda: w([["a,b"]], quoting=csv.QUOTE_NONE),
    lambda: w([["a,b"]], quoting=csv.QUOTE_NONE, escapechar='\\'),
    lambda: w([[1, 2]], delimiter="\t", lineterminator="\n"),
    dw,
    lambda: csv.DictWriter(io.StringIO(), ["a"]).writerow({"z": 1}),
    lambda: w([[True, -1]]),
    lambda: csv.DictReader(io.StringIO("a,b\n1,2\n")).fieldnames,
    lambda: base64.b64encode(b"hello?>"),
    lambda: base64.urlsafe_b64encode(b"\xfb\xff"),
    lambda: base64.b64decode("aGVsbG8="),
    lambda: base64.b64decode(b"aGVs\nbG8="),
    lambda: base64.b64decode("aGVsbG8"),
    lambda: base64.b64decode("a"),
    lambda: base64.b64decode("aGV$sbG8=", validate=True),
    lambda: base64.urlsafe_b64decode("-_8="),
    lambda: base64.b64encode("x"),
    lambda: base64.b32encode(b"hello"),
    lambda: base64.b32decode(b"NBSWY3DP"),
    lambda: base64.b32encode(b"a"),
    lambda: base64.b32decode("ME======"),
    lambda: base64.b16encode(b"\xff"),
    lambda: base64.b16decode("FF"),
    lambda: base64.b64encode(b""),
    lambda: base64.b64decode(""),
    lambda: base64.encodebytes(b"a" * 60),
    lambda: base64.b64decode("aGVsbG8=="),
    lambda: base64.b64decode("é"),
    lambda: binascii.hexlify(b"ab"),
    lambda: binascii.unhexlify("zz"),
    lambda: binascii.crc32(b"hello"),
    lambda: binascii.hexlify(b"abc", ":"),
    lambda: binascii.b2a_base64(b"a", newline=False),
    lambda: json.loads('[1e+5, -2.5E-1, -0, {"a": "b\\u0041"}]', parse_float=str),
    lambda: json.loads('{"a": [true, null, "x\\n"]}', object_hook=lambda d: sorted(d)),
    lambda: json.loads("[1,", parse_int=str),
    lambda: json.dumps({"a": (1, 2), "b": {"c": None}, 3: "é\x7f\b"}),
    lambda: json.dumps({"[x": 1}),
    lambda: json.dumps(["😀", "\ud83d"[:0]]),
]
