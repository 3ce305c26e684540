"""Makes the folder that the cases read, in the current directory."""

import sqlite3
from pathlib import Path

data = Path("data")
(data / "sub").mkdir(parents=True)
(data / "a.txt").write_text("one\ntwö\n", encoding="utf-8")
(data / "crlf.txt").write_bytes(b"a\r\nb\rc\n")
(data / "latin.txt").write_bytes(b"caf\xe9\n")
(data / "j.json").write_text('{"a": [1, null]}')
(data / "t.csv").write_text('name,text\r\nAda,"x, ""y"""\r\nBob,\r\n')
(data / "sub" / "b.md").write_text("# b\n")
(data / "sub" / "c.txt").write_text("c\n")
with sqlite3.connect(data / "main.db") as connection:
    connection.execute("create table users (id integer primary key, name text, score real)")
    connection.executemany("insert into users values (?, ?, ?)", [(1, "Ada", 1.5), (2, "Bob", None)])
