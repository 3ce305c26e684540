"""Containers."""

from .mapping import ChainMap, Counter, OrderedDict, UserDict, defaultdict
from .sequence import UserList, UserString, deque, namedtuple
