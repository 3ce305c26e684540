"""Functions, iterators and containers."""

import functools, itertools as it, collections as c, contextlib, operator as op, copy, json
from collections import *
from functools import *
from contextlib import *


@lru_cache(maxsize=2)
def sq(x):
    return x * x


@cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class A:
    def __init__(s):
        s.n = 0

    @cached_property
    def v(s):
        s.n += 1
        return s.n

    @lru_cache
    def m(s, x):
        s.n += 1
        return x


@total_ordering
class V:
    def __init__(s, v):
        s.v = v

    def __eq__(s, o):
        return s.v == o.v

    def __lt__(s, o):
        return s.v < o.v


@contextmanager
def cm(a):
    log.append("in")
    try:
        yield a
    except ValueError as e:
        log.append(str(e))
    finally:
        log.append("out")


log = []


def cmt():
    with cm(5) as x:
        log.append(x)
    with cm(6):
        raise ValueError("v")
    try:
        with cm(7):
            raise KeyError("k")
    except KeyError:
        log.append("K")
    return log


@contextmanager
def bad():
    return
    yield


def sup():
    with suppress(KeyError, ValueError):
        raise KeyError(1)
    return 1


def st():
    l = []
    with ExitStack() as s:
        s.callback(l.append, 1)
        s.callback(l.append, 2)
        s.enter_context(cm(1))
    return l


@singledispatch
def sd(x):
    return "o"


@sd.register(int)
def _(x):
    return "i"


@sd.register(str)
def _(x):
    return "s"


P = namedtuple("P", "x y", defaults=[5])


class Q(namedtuple("Q", "a b")):
    def s(self):
        return self.a + self.b
CASES = [
    lambda: [sq(1), sq(2), sq(1), sq(3), sq(2)] and sq.cache_info(),
    lambda: fib(40),
    lambda: (lambda a: (a.v, a.v, a.n))(A()),
    lambda: (lambda a: (a.m(1), a.m(1), a.n))(A()),
    lambda: [V(1) < V(2), V(1) <= V(1), V(2) > V(1), V(1) >= V(2)],
    lambda: reduce(lambda a, b: a + b, [1, 2, 3]),
    lambda: reduce(lambda a, b: a + b, []),
    lambda: reduce(op.mul, [2, 3], 5),
    lambda: partial(int, base=2)("101") if 0 else partial(pow, 2)(5),
    lambda: sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)),
    lambda: [sd(1), sd("x"), sd(2.5)],
    lambda: list(it.islice(it.count(5, 2), 3)),
    lambda: list(it.islice(it.cycle("ab"), 5)),
    lambda: list(it.repeat(1, 3)),
    lambda: list(it.chain("ab", [1])),
    lambda: next(it.chain("ab")),
    lambda: list(it.chain.from_iterable(["ab", "c"])),
    lambda: list(it.islice(range(10), 2, 8, 3)),
    lambda: list(it.islice(range(10), None, None, 4)),
    lambda: list(it.takewhile(lambda x: x < 3, range(9))),
    lambda: list(it.dropwhile(lambda x: x < 3, range(5))),
    lambda: list(it.filterfalse(None, [0, 1, 2])),
    lambda: list(it.compress("abc", [1, 0, 1])),
    lambda: list(it.starmap(pow, [(2, 3), (3, 2)])),
    lambda: list(it.accumulate([1, 2, 3])),
    lambda: list(it.accumulate([1, 2, 3], op.mul, initial=2)),
    lambda: list(it.pairwise("abc")),
    lambda: list(it.zip_longest("ab", [1], fillvalue="-")),
    lambda: [list(x) for x in it.tee("ab")],
    lambda: [(k, list(g)) for k, g in it.groupby("aabbc")],
    lambda: [(k, list(g)) for k, g in it.groupby([1, 3, 2, 4], lambda x: x % 2)],
    lambda: [k for k, g in it.groupby("aab")],
    lambda: list(it.product("ab", [1, 2])),
    lambda: list(it.product([0, 1], repeat=2)),
    lambda: list(it.permutations("abc", 2)),
    lambda: list(it.permutations([1, 2, 3])),
    lambda: list(it.combinations("abcd", 2)),
    lambda: list(it.combinations_with_replacement("ab", 2)),
    lambda: list(it.product()),
    lambda: list(it.permutations([])),
    lambda: list(it.islice([1], 5, 3)),
    lambda: Counter("abracadabra"),
    lambda: Counter("abracadabra").most_common(2),
    lambda: Counter(a=1) + Counter(a=2, b=-1),
    lambda: Counter("aab") - Counter("a"),
    lambda: Counter("a")["z"],
    lambda: list(Counter(a=2, b=1).elements()),
    lambda: Counter({"a": 3}).total(),
    lambda: Counter("ab") | Counter("a"),
    lambda: Counter("ab") & Counter("a"),
    lambda: json.dumps(Counter("aab")),
    lambda: Counter("ab") == Counter("ba"),
    lambda: defaultdict(int).get("q"),
    lambda: defaultdict(int, {"a": 1}),
    lambda: "z" in defaultdict(int),
    lambda: json.dumps(defaultdict(list, {"a": [1]})),
    lambda: [(k, v) for k, v in defaultdict(int, a=1).items()],
    lambda: OrderedDict([("b", 1), ("a", 2)]),
    lambda: (lambda d: (d.move_to_end("b"), list(d), d.popitem(last=False), d))(OrderedDict(b=1, a=2, c=3)),
    lambda: OrderedDict(a=1) == {"a": 1},
    lambda: OrderedDict([("a", 1), ("b", 2)]) == OrderedDict([("b", 2), ("a", 1)]),
    lambda: (lambda d: (d.appendleft(0), d.append(4), d.popleft(), d.pop(), d, d[0], d[-1], len(d), 2 in d))(deque([1, 2, 3])),
    lambda: deque(range(10), maxlen=3),
    lambda: (lambda d: (d.rotate(1), d))(deque([1, 2, 3])),
    lambda: deque([1]) == deque([1]),
    lambda: deque().pop(),
    lambda: list(reversed(deque([1, 2]))),
    lambda: (lambda d: ([d.append(i) or (d.popleft() if i > 50 else 0) for i in range(1000)][-1], len(d)))(deque()),
    lambda: (lambda d: (d.extendleft([1, 2, 3]), d))(deque([9])),
    lambda: bool(deque()),
    lambda: P(1),
    lambda: P(1, 2).y,
    lambda: P(x=3),
    lambda: P(1)._asdict(),
    lambda: P(1)._replace(x=9),
    lambda: P._fields,
    lambda: P._make([7, 8]),
    lambda: tuple(P(1)),
    lambda: P(1) == (1, 5),
    lambda: Q(1, 2).s(),
    lambda: Q(b=1, a=2),
    lambda: (lambda x, y: x + y)(*P(1)),
    lambda: isinstance(P(1), tuple),
    lambda: json.dumps(P(1)),
    lambda: namedtuple("Z", ["a", "b"])(1, 2),
    lambda: hash(P(1, 2)) == hash((1, 2)),
    lambda: P(1)[0],
    lambda: sorted([P(2), P(1)]),
    lambda: {P(1, 1): 3}[P(1, 1)],
    lambda: len(P(1)),
    lambda: namedtuple("Z", "a b")(a=1, b=2).b,
    lambda: P(1).zz,
    lambda: ChainMap({"a": 1}, {"a": 2, "b": 3})["b"],
    lambda: list(ChainMap({"a": 1}, {"b": 2})),
    cmt,
    sup,
    st,
    lambda: bad().__enter__(),
    lambda: nullcontext(4).__enter__(),
    lambda: op.itemgetter(1)([4, 5]),
    lambda: op.itemgetter("a", "b")({"a": 1, "b": 2}),
    lambda: op.attrgetter("real")(5) if 0 else op.attrgetter("n")(A()),
    lambda: op.methodcaller("upper")("a"),
    lambda: sorted([(2, "a"), (1, "b")], key=op.itemgetter(0)),
    lambda: copy.deepcopy({"a": [1, {"b": (2, [3])}]}),
    lambda: (lambda a, b: (a is b, a[0] is b[0]))(*(lambda x: (x, copy.copy(x)))([[1]])),
    lambda: (lambda a: copy.deepcopy(a).n)(A()),
    lambda: (lambda l: (l.append(l), copy.deepcopy(l)[0][0] is not l))([])[1],
    lambda: copy.deepcopy(defaultdict(list, {"a": [1]})),
    lambda: copy.deepcopy(P(1, [2])),
    lambda: copy.copy(A()).n,
    lambda: dict(Counter("ab")),
    lambda: (lambda d: (d["x"].append(1), d["x"].append(2), d["y"], dict(d), len(d), d))(defaultdict(list)),
    lambda: defaultdict()["q"],
    lambda: dict(ChainMap({"a": 1}, {"a": 2, "b": 3})),
    lambda: {**Counter("a"), "b": 2},
]
