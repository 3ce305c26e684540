"""Names of kinds of containers, for annotations and isinstance. Classes cannot be registered for them: a Mapping is a dict,
a Sequence a list, tuple, str, bytes or range."""

from typing import _form

Mapping = MutableMapping = dict
MutableSequence = list
Sequence = (list, tuple, str, bytes, bytearray, range)
Set = (set, frozenset)
MutableSet = set
ByteString = (bytes, bytearray)


def __getattr__(name):
    if name[0] == "_":
        raise AttributeError(name)
    return _form
