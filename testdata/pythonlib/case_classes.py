"""Classes that are mostly data."""

import dataclasses as dc
from dataclasses import dataclass, field, asdict, replace, astuple, fields
import json


@dataclass
class P:
    x: int
    y: int = 5
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, order=True)
class F:
    a: str
    b: float = 1.0


@dataclass
class C(P):
    z: "str | None" = None

    def __post_init__(self):
        self.w = self.x * 2


@dataclass
class K:
    a: int = field(repr=False, default=3)
    _: dc.KW_ONLY
    b: int = 4


from typing import ClassVar, Optional


@dataclass
class V:
    n: ClassVar[int] = 7
    i: dc.InitVar[int] = 2
    o: Optional[dict] = None

    def __post_init__(self, i):
        self.j = i + 1


def bad():

    @dataclass
    class B:
        l: list = []


def bad2():

    @dataclass
    class B:
        a: int = 1
        b: str


def fz():
    F("x").a = 3
CASES = [
    lambda: P(1),
    lambda: P(1, 2, ["a"]),
    lambda: P(x=1, y=3),
    lambda: P(),
    lambda: P(1, 2, [], 4),
    lambda: P(1, z=3),
    lambda: P(1) == P(1),
    lambda: P(1) != P(2),
    lambda: P(1).tags is P(1).tags,
    lambda: F("a") < F("b"),
    lambda: sorted([F("b"), F("a", 2)]),
    lambda: hash(F("a")) == hash(F("a")),
    lambda: {F("a"): 1}[F("a")],
    fz,
    lambda: C(1),
    lambda: C(2, z="q").w,
    lambda: K(1, b=2),
    lambda: K(1, 2),
    lambda: V(),
    lambda: V(5).j,
    lambda: V.n,
    bad,
    bad2,
    lambda: asdict(C(1, tags=["t"])),
    lambda: astuple(P(1)),
    lambda: replace(P(1), y=9),
    lambda: [f.name for f in fields(P)],
    lambda: dc.is_dataclass(P),
    lambda: json.dumps(asdict(P(1))),
    lambda: dc.make_dataclass("M", ["a", ("b", int, 3)])(1),
    lambda: asdict(5),
    lambda: P(1) == 5,
    lambda: asdict(P(1, tags=[P(2)])),
]
