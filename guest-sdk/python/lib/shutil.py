"""Copies of files."""

import _fs
import os


def copyfile(src, dst, *, follow_symlinks=True):
    _fs.write(dst, _fs.read(src))
    return dst


def copy(src, dst, *, follow_symlinks=True):
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(src))
    return copyfile(src, dst)


copy2 = copy


def move(src, dst):
    dst = copy(src, dst)
    os.remove(src)
    return dst


def copyfileobj(fsrc, fdst, length=65536):
    while True:
        data = fsrc.read(length)
        if not data:
            return
        fdst.write(data)


def rmtree(path, ignore_errors=False):
    """Removes a folder with what is in it."""
    for folder, _, files in os.walk(path, topdown=False):
        for name in files:
            os.remove(os.path.join(folder, name))
        os.rmdir(folder)
