"""A database that the operator has granted, which is a file of CPython's current directory."""

import json
import sqlite3

try:
    from wasmres import query, query_row
except ImportError:

    class Rows(list):
        def values(self):
            return [list(row.values()) for row in self]

    def query(name, statement, *args):
        """What the SDK answers, in CPython."""
        connection = sqlite3.connect("data/" + name + ".db")
        connection.row_factory = lambda cursor, row: dict(zip([column[0] for column in cursor.description], row))
        cursor = connection.execute(statement, args)
        rows = Rows(cursor.fetchall())
        rows.columns = [(column[0], "") for column in cursor.description]
        return rows

    def query_row(name, statement, *args):
        return query(name, statement, *args)[0] if query(name, statement, *args) else None


VALUES = """select null as n, 9223372036854775807 as most, -9223372036854775808 as least, 0 as zero, 1.5 as half, 9e999 as inf,
-0.0 as negative, 1e300 as large, '' as empty, 'é😀' as text, x'' as none, x'00ff' as bytes, 1 as twice, 2 as twice,
hex(zeroblob(5000)) as long, zeroblob(5000) as zeros"""

def connected():
    connection = sqlite3.connect("data/main.db")
    connection.row_factory = sqlite3.Row
    return connection


def row():
    found = connected().execute("select * from users where name = :name and ':x' = ':x' -- :y", {"name": "Ada"}).fetchone()
    return found["name"], found["NAME"], found[2], found.keys(), tuple(found), len(found)


def cursor():
    with sqlite3.connect("data/main.db") as connection:
        found = connection.cursor()
        found.execute("select id, name from users order by id")
        return found.description, found.fetchone(), found.fetchmany(1), found.fetchall(), found.fetchone()


def closed():
    connection = connected()
    connection.close()
    connection.execute("select 1")


def caught():
    try:
        connected().execute("selec")
    except sqlite3.Error as error:
        return type(error).__name__


def too_large(number):
    try:
        return query_row("main", "select ? as a", number)
    except OverflowError:
        return "too large"


def rows():
    found = query("main", "select id, name from users order by id")
    return found[1], len(found), bool(found), [row["name"] for row in found], list(found)


def as_a_list():
    found = query("main", "select id, name from users order by id")
    rows, more = [dict(row) for row in found], [{"id": 0}]
    first, *others = found
    yield isinstance(found, list), found == rows, rows == found, found == query("main", "select id, name from users order by id"), found != []
    yield found[-1], found[1:], found[::-1], first, others, {"id": 1} in found, rows[0] in found, found.index(rows[1]), found.count(rows[1])
    yield more + found, found + more, found + found, 2 * found, [*found], list(reversed(found))
    yield sorted(found, key=lambda row: -row["id"]), [*map(tuple, found)], str(found), json.dumps(found), found.copy() == rows
    found.append(more[0])
    found.insert(0, {})
    found.extend(found[:1])
    found += more
    found[0] = None
    del found[1]
    yield found, found.pop(), len(found), found.sort(key=lambda row: -1 if row is None else row.get("id", 9)), found
    found.clear()
    yield found, bool(found), not found


def beside_a_list():
    found = query("main", "select name as a, id as b from users order by id")
    return [name for name, _ in found.columns], list(found.values()), hasattr(found, "none")


CASES = [
    rows,
    lambda: [str(part) for part in as_a_list()],
    beside_a_list,
    lambda: query_row("main", VALUES),
    lambda: list(query("main", VALUES)),
    lambda: sqlite3.connect("data/main.db").execute(VALUES).fetchall(),
    lambda: query_row("main", "select ? as a, ? as b, ? as c, ? as d, ? as e", None, -(2**63), 1.5, "é", b"\x00"),
    lambda: query_row("main", "select ? as long", "x" * 3000),
    lambda: query_row("main", "select name from users where id = ?", 99),
    lambda: list(query("main", "select name from users where id = ?", 99)),
    lambda: bool(query("main", "select name from users where id = ?", 99)),
    lambda: query("main", "select name from users")[2],
    lambda: [too_large(n) for n in (2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1)],
    lambda: len(query("main", "with recursive c(x) as (select 1 union all select x + 1 from c limit 30000) select x from c")),
    row,
    cursor,
    closed,
    caught,
    lambda: sqlite3.connect("data/main.db").execute("select * from users where id > ? order by id", (1,)).fetchall(),
    lambda: [r["name"] for r in connected().execute("select name from users order by id")],
    lambda: connected().execute("select * from users where id = ?", [99]).fetchone(),
    lambda: connected().execute("select count(*) from users").fetchone()[0],
    lambda: connected().execute("select x'00ff', null, 1.5, 'é', 9007199254740993").fetchone()[:],
    lambda: connected().execute("select name from users").fetchone()["none"],
    lambda: connected().execute("select :a", {}),
    lambda: sqlite3.connect("data/main.db").execute("select [a] from (select 1 as a) where '?' = '?'").fetchall(),
    lambda: sqlite3.connect("data/main.db").execute("select @a, $b, :a", {"a": 1, "b": "x"}).fetchall(),
]
