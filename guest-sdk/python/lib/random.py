"""Chance. The host gives a seed to each request; numbers of a seed of your own differ from CPython's."""

import math

from urandom import choice as _choice, getrandbits as _bits, randint, random, randrange, seed as _seed, uniform

_TOP = 30  # bits that the generator gives at once


def seed(a=None, version=2):
    if isinstance(a, (str, bytes, bytearray, float)):
        a = hash(a)
    _seed(a & 0x3FFFFFFF if a is not None else None)


def getrandbits(k):
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    value = 0
    while k > 0:
        take = min(k, _TOP)
        value = value << take | _bits(take)
        k -= take
    return value


def randbytes(n):
    return bytes([_bits(8) for _ in range(n)])


def choice(seq):
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return _choice(seq)


def choices(population, weights=None, *, cum_weights=None, k=1):
    if weights is None and cum_weights is None:
        return [choice(population) for _ in range(k)]
    if cum_weights is None:
        cum_weights, total = [], 0
        for weight in weights:
            total += weight
            cum_weights.append(total)
    if len(cum_weights) != len(population):
        raise ValueError("The number of weights does not match the population")
    if cum_weights[-1] <= 0:
        raise ValueError("Total of weights must be greater than zero")
    from bisect import bisect

    last = len(population) - 1
    return [population[min(bisect(cum_weights, random() * cum_weights[-1]), last)] for _ in range(k)]


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = randrange(i + 1)
        x[i], x[j] = x[j], x[i]


def sample(population, k, *, counts=None):
    items = list(population)
    if counts is not None:
        items = [item for item, n in zip(items, counts) for _ in range(n)]
    if not 0 <= k <= len(items):
        raise ValueError("Sample larger than population or is negative")
    for i in range(k):
        j = randrange(i, len(items))
        items[i], items[j] = items[j], items[i]
    return items[:k]


def gauss(mu=0.0, sigma=1.0):
    return mu + sigma * math.sqrt(-2 * math.log(1 - random())) * math.cos(math.tau * random())


normalvariate = gauss


def expovariate(lambd=1.0):
    return -math.log(1 - random()) / lambd


def triangular(low=0.0, high=1.0, mode=None):
    u, c = random(), 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        u, c, low, high = 1 - u, 1 - c, high, low
    return low + (high - low) * math.sqrt(u * c)


def lognormvariate(mu=0.0, sigma=1.0):
    return math.exp(gauss(mu, sigma))


class Random:
    """The generator of the module, seeded."""

    def __init__(self, x=None):
        if x is not None:
            seed(x)

    def seed(self, a=None, version=2):
        seed(a)

    def __getattr__(self, name):
        function = globals().get(name)
        if name[0] == "_" or not callable(function):
            raise AttributeError("'Random' object has no attribute '" + name + "'")
        return function


class SystemRandom(Random):
    def __init__(self, x=None):
        pass
