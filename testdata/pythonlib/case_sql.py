"""A database that the operator has granted, which is a file of CPython's current directory."""

import sqlite3

try:
    from wasmres import query, query_row
except ImportError:

    def query(name, statement, *args):
        """What the SDK answers, in CPython."""
        connection = sqlite3.connect("data/" + name + ".db")
        connection.row_factory = lambda cursor, row: dict(zip([column[0] for column in cursor.description], row))
        return connection.execute(statement, args).fetchall()

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


CASES = [
    rows,
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
