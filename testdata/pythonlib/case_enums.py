"""Enumerations, named tuples, wrapped functions and formats."""

import enum, json, functools, typing, traceback, logging
from enum import Enum, IntEnum, StrEnum, Flag, auto, unique, IntFlag
from typing import NamedTuple, TypedDict, Protocol, Generic, TypeVar
from datetime import datetime, date


class Color(Enum):
    RED = 1
    GREEN = 2
    ALIAS = 1

    def describe(self):
        return self.name.lower()

    @classmethod
    def default(cls):
        return cls.GREEN


class S(str, Enum):
    A = "a"
    B = "b"


class N(IntEnum):
    ONE = 1
    TWO = auto()


class T(StrEnum):
    X = auto()
    Y = "why"


class F(Flag):
    R = auto()
    W = auto()
    X = auto()


class Planet(Enum):
    EARTH = (1, 2)
    MARS = (3, 4)

    def __init__(self, a, b):
        self.a, self.b = (a, b)

    @property
    def total(self):
        return self.a + self.b


class P(NamedTuple):
    x: int
    y: str = "z"

    def both(self):
        return f"{self.x}{self.y}"


class M(TypedDict, total=False):
    a: int


U = TypeVar("U")


class G(Generic[U]):
    def get(self, v):
        return v


class Pr(Protocol):
    def f(self) -> int:
        ...


def deco(f):

    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k)
    return inner


@deco
def named(a: int, b: str="x") -> str:
    """the doc"""
    return a


X = list[int]
Y = dict[str, list[int]]


def tb():
    try:
        1 / 0
    except Exception:
        return traceback.format_exc().splitlines()[0]


from abc import ABC, abstractmethod


class Abstract(ABC):
    @abstractmethod
    def f(self):
        ...


class Concrete(Abstract):
    def __init__(self, x):
        self.x = x

    def f(self):
        return self.x
CASES = [
    lambda: Color.RED,
    lambda: str(Color.RED),
    lambda: Color(2),
    lambda: Color["RED"],
    lambda: list(Color),
    lambda: len(Color),
    lambda: Color.ALIAS is Color.RED,
    lambda: Color.RED.describe(),
    lambda: Color.default(),
    lambda: Color(9),
    lambda: Color["nope"],
    lambda: Color.RED == 1,
    lambda: isinstance(Color.RED, Color),
    lambda: {Color.RED: 1}[Color.RED],
    lambda: [c.value for c in Color],
    lambda: Color.RED in Color,
    lambda: list(Color.__members__),
    lambda: f"{Color.RED}",
    lambda: Color.RED != Color.GREEN,
    lambda: S.A == "a",
    lambda: S("b"),
    lambda: S.A.value,
    lambda: json.dumps({"s": S.A}),
    lambda: S.A.upper(),
    lambda: isinstance(S.A, str),
    lambda: "x" + S.A,
    lambda: f"{S.A.value}",
    lambda: [s.value for s in S],
    lambda: N.TWO,
    lambda: N.ONE + 1,
    lambda: N.ONE < N.TWO,
    lambda: N(2),
    lambda: int(N.TWO),
    lambda: json.dumps([N.ONE]),
    lambda: max(N),
    lambda: [10, 20, 30][N.ONE],
    lambda: N.ONE == 1,
    lambda: str(N.ONE),
    lambda: isinstance(N.ONE, int),
    lambda: T.X,
    lambda: str(T.Y),
    lambda: T("x"),
    lambda: T.Y == "why",
    lambda: f"{T.Y}!",
    lambda: T.Y.upper(),
    lambda: json.dumps(T.X),
    lambda: isinstance(T.X, str),
    lambda: F.R | F.W,
    lambda: (F.R | F.W).value,
    lambda: F.R in F.R | F.X,
    lambda: bool(F.R & F.W),
    lambda: F(3),
    lambda: [f.value for f in F],
    lambda: Planet.EARTH.total,
    lambda: Planet.MARS.value,
    lambda: Planet((3, 4)),
    lambda: P(1),
    lambda: P(1, "q").both(),
    lambda: P(x=2)._asdict(),
    lambda: P(1) == (1, "z"),
    lambda: isinstance(P(1), tuple),
    lambda: P._fields,
    lambda: (lambda x, y: (x, y))(*P(3)),
    lambda: M(a=1),
    lambda: isinstance(M(a=1), dict),
    lambda: G().get(3),
    lambda: G[int]().get(4),
    lambda: issubclass(Pr, object),
    lambda: named.__name__,
    lambda: named.__doc__,
    lambda: named.__wrapped__.__name__,
    lambda: named(3),
    lambda: f"{datetime(2024, 1, 2):%Y/%m/%d}",
    lambda: "{:%d.%m.}".format(date(2024, 1, 2)),
    lambda: f"{datetime(2024, 1, 2)}",
    tb,
    lambda: enum.unique(Color),
    lambda: typing.get_type_hints(P) and 1,
    lambda: X and Y and 1,
    Abstract,
    lambda: Concrete(4).f(),
    lambda: json.dumps({"s": S.A, S.B: [N.TWO, T.X]}, indent=1),
    lambda: json.dumps([S.A, N.ONE]),
    lambda: [S.A.title(), S.A[:], len(S.A), "-".join([s.value for s in S])],
]
