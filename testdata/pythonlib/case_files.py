"""Files of a folder that the operator has granted. The current directory of CPython has it, too."""

import csv
import glob
import json
import os
import shutil
from pathlib import Path, PurePosixPath

data = Path("data")


def lines():
    with open("data/a.txt") as file:
        return [line.rstrip("\n") for line in file], file.closed


def written():
    path = data / "out" / "w.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        print("one", 2, sep="-", file=file)
        file.write("ü\n")
        file.writelines(["x", "y"])
    with path.open("a") as file:
        file.write("\nmore")
    text = path.read_text(encoding="utf-8")
    size = path.stat().st_size
    path.unlink()
    return text, size, path.exists()


def table():
    with open("data/t.csv", newline="") as file:
        return [dict(row.items()) for row in csv.DictReader(file)]


def replaced():
    one, other = data / "r1", data / "r2"
    size = one.write_bytes(b"abc")
    os.rename(one, other)
    shutil.copy(other, data / "r3")
    found = sorted(os.listdir("data")), other.read_bytes()
    for name in ("r2", "r3"):
        os.remove("data/" + name)
    return size, found, one.exists()


def missing(action):
    try:
        action()
    except FileNotFoundError as error:
        return error.errno, error.strerror, str(error.filename), str(error), isinstance(error, OSError)


def raised(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__, error.errno


def excluded():
    with open("data/x.txt", "x") as file:
        file.write("new")
    try:
        return raised(lambda: open("data/x.txt", "x"))
    finally:
        os.remove("data/x.txt")


CASES = [
    lines,
    written,
    table,
    replaced,
    excluded,
    lambda: open("data/a.txt").read(),
    lambda: open("data/a.txt").read(4),
    lambda: open("data/a.txt").readline(),
    lambda: open("data/a.txt").readlines(),
    lambda: open("data/a.txt", "rb").read(),
    lambda: open("data/crlf.txt").read(),
    lambda: open("data/crlf.txt", newline="").read(),
    lambda: open("data/a.txt", mode="rt", encoding="utf-8").read(),
    lambda: open("data/latin.txt", encoding="latin-1").read(),
    lambda: open("data/latin.txt", errors="replace").read(),
    lambda: json.load(open("data/j.json")),
    lambda: missing(lambda: open("data/none")),
    lambda: missing(lambda: os.stat("data/none")),
    lambda: missing(lambda: (data / "none").read_text()),
    lambda: missing(lambda: os.listdir("data/none")),
    lambda: missing(lambda: os.remove("data/none")),
    lambda: raised(lambda: open("data/sub")),
    lambda: raised(lambda: os.listdir("data/a.txt")),
    lambda: raised(lambda: (data / "sub").mkdir()),
    lambda: raised(lambda: os.makedirs("data/sub")),
    lambda: os.makedirs("data/sub", exist_ok=True),
    lambda: open("data/a.txt", "q"),
    lambda: open("data/a.txt", "rb", encoding="utf-8"),
    lambda: sorted(os.listdir("data")),
    lambda: sorted(os.listdir(data / "sub")),
    lambda: sorted([(e.name, e.is_dir(), e.is_file(), e.path) for e in os.scandir("data")]),
    lambda: [(root, sorted(dirs), sorted(files)) for root, dirs, files in os.walk("data")],
    lambda: [root for root, _, _ in os.walk("data", topdown=False)],
    lambda: list(os.walk("data/none")),
    lambda: (os.path.exists("data/a.txt"), os.path.isfile("data/a.txt"), os.path.isdir("data/a.txt")),
    lambda: (os.path.exists("data/none"), os.path.isdir("data/sub"), os.path.getsize("data/a.txt")),
    lambda: os.stat("data/a.txt").st_size,
    lambda: os.stat("data/a.txt")[6],
    lambda: int(os.path.getmtime("data/a.txt")),
    lambda: sorted([p.name for p in data.iterdir()]),
    lambda: sorted([str(p) for p in data.glob("*.txt")]),
    lambda: sorted([str(p) for p in data.glob("**/*.md")]),
    lambda: sorted([str(p) for p in data.rglob("*")]),
    lambda: sorted([str(p) for p in data.glob("*/[bc].*")]),
    lambda: sorted([str(p) for p in data.glob("**")]),
    lambda: sorted([str(p) for p in Path(".").glob("data/su?/*")]),
    lambda: sorted(glob.glob("data/*.txt")),
    lambda: sorted(glob.glob("data/**/*.md", recursive=True)),
    lambda: sorted(glob.glob("data/**", recursive=True)),
    lambda: glob.glob("data/none*"),
    lambda: (data / "a.txt").exists(),
    lambda: [(data / "sub").is_dir(), (data / "sub").is_file(), (data / "no" / "such").exists()],
    lambda: data.joinpath("sub", "b.md").read_bytes(),
    lambda: list(data.glob("/x")),
    lambda: data / "sub" / "b.md",
    lambda: [PurePosixPath(p) for p in ("", ".", "/", "//a", "///a", "a//b/./c/", "../a", "/a/..")],
    lambda: [PurePosixPath(p).name for p in ("", "/", "a/b", "a/.hidden", "..")],
    lambda: [PurePosixPath(p).suffix for p in ("a.txt", "a.tar.gz", ".bashrc", "a.", "a", "a/b.c/d")],
    lambda: [PurePosixPath(p).stem for p in ("a.txt", "a.tar.gz", ".bashrc", "a.", "a")],
    lambda: [PurePosixPath(p).suffixes for p in ("a.txt", "a.tar.gz", ".bashrc", "a.")],
    lambda: [PurePosixPath(p).parent for p in ("/", "a", "/a", "a/b/c", "")],
    lambda: [list(PurePosixPath(p).parents) for p in ("/a/b", "a/b")],
    lambda: [PurePosixPath(p).parts for p in ("/a/b", "a/b", "")],
    lambda: PurePosixPath("/a") / "b" / "/c",
    lambda: "x" / PurePosixPath("y"),
    lambda: PurePosixPath("/a/b/c").relative_to("/a"),
    lambda: PurePosixPath("/a/b").relative_to("/c"),
    lambda: PurePosixPath("/a/b").is_relative_to("/a"),
    lambda: PurePosixPath("a/b.txt").with_suffix(".md"),
    lambda: PurePosixPath("a/b.txt").with_suffix("md"),
    lambda: PurePosixPath("a/b.txt").with_name("c"),
    lambda: PurePosixPath("a/b.txt").with_stem("c"),
    lambda: PurePosixPath("a/b.txt").match("*.txt"),
    lambda: PurePosixPath("/a/b.txt").match("a/*.txt"),
    lambda: PurePosixPath("/a/b").as_uri(),
    lambda: PurePosixPath("a").is_absolute(),
    lambda: PurePosixPath("a") == PurePosixPath("a/"),
    lambda: sorted([PurePosixPath("b"), PurePosixPath("a/c"), PurePosixPath("a")]),
    lambda: {PurePosixPath("a"): 1}[PurePosixPath("a")],
    lambda: f"{PurePosixPath('a/b')}",
    lambda: [os.path.join(*p) for p in (("a", "b"), ("a/", "b"), ("a", "/b"), ("", "b"), ("a", ""))],
    lambda: [os.path.split(p) for p in ("a/b", "/a", "a/", "", "//a", "a//b")],
    lambda: [os.path.splitext(p) for p in ("a.b", ".a", "a/b.c/d", "a.b.c", "..a", "a.")],
    lambda: [os.path.normpath(p) for p in ("a/../b", "/../a", "", "a//b/./", "../..", "//a", "///a")],
    lambda: [os.path.relpath("/a/b", "/a/c"), os.path.relpath("/a", "/a"), os.path.relpath("/a/b", "/")],
    lambda: os.path.commonpath(["/a/b/c", "/a/b/d"]),
    lambda: os.path.commonprefix(["abc", "abd"]),
    lambda: os.path.abspath("/x/../y"),
    lambda: [os.path.basename("a/b"), os.path.dirname("a/b"), os.path.isabs("/a")],
    lambda: os.environ["LIBRARY_TEST"],
    lambda: os.environ.get("LIBRARY_NONE", "else"),
    lambda: os.environ["LIBRARY_NONE"],
    lambda: "LIBRARY_TEST" in os.environ,
    lambda: os.getenv("LIBRARY_NONE"),
    lambda: [os.sep, os.linesep, os.name, os.curdir],
    lambda: open("data/\0"),
]
