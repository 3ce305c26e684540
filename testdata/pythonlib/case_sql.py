"""A database that the operator has granted, which is a file of CPython's current directory."""

import sqlite3


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


CASES = [
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
