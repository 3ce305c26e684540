"""Iterators of iterators."""

_missing = object()


def count(start=0, step=1):
    while True:
        yield start
        start += step


def cycle(iterable):
    saved = []
    for item in iterable:
        yield item
        saved.append(item)
    while saved:
        yield from saved


def repeat(object, times=None):
    while times is None or times > 0:
        yield object
        if times is not None:
            times -= 1


def _chained(iterables):
    for iterable in iterables:
        yield from iterable


class chain:
    def __init__(self, *iterables):
        self._items = _chained(iterables)

    @staticmethod
    def from_iterable(iterables):
        return _chained(iterables)

    def __iter__(self):
        return self._items

    def __next__(self):
        return next(self._items)


def islice(iterable, start, *more):
    stop, step = (start, None) if not more else (more[0], more[1] if len(more) > 1 else None)
    start = (start or 0) if more else 0
    step = 1 if step is None else step
    if start < 0 or (stop is not None and stop < 0) or step < 1:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if stop is not None and start >= stop:
        if start:
            for _ in zip(range(min(start, stop)), iterable):
                pass
        return
    i, wanted = 0, start
    for item in iterable:
        if i == wanted:
            yield item
            wanted += step
        i += 1
        if stop is not None and i >= stop:
            return


def takewhile(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate, iterable):
    items = iter(iterable)
    for item in items:
        if not predicate(item):
            yield item
            break
    yield from items


def filterfalse(predicate, iterable):
    for item in iterable:
        if not (predicate(item) if predicate else item):
            yield item


def compress(data, selectors):
    for item, wanted in zip(data, selectors):
        if wanted:
            yield item


def starmap(function, iterable):
    for args in iterable:
        yield function(*args)


def accumulate(iterable, func=None, *, initial=None):
    total = _missing if initial is None else initial
    if initial is not None:
        yield initial
    for item in iterable:
        total = item if total is _missing else func(total, item) if func else total + item
        yield total


def pairwise(iterable):
    before = _missing
    for item in iterable:
        if before is not _missing:
            yield before, item
        before = item


def batched(iterable, n):
    if n < 1:
        raise ValueError("n must be at least one")
    batch = []
    for item in iterable:
        batch.append(item)
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def zip_longest(*iterables, fillvalue=None):
    iterators = [iter(i) for i in iterables]
    active = len(iterators)
    while active:
        values = []
        for i in range(len(iterators)):
            value = _missing if iterators[i] is None else next(iterators[i], _missing)
            if value is _missing:
                if iterators[i] is not None:
                    iterators[i] = None
                    active -= 1
                value = fillvalue
            values.append(value)
        if active:
            yield tuple(values)


def tee(iterable, n=2):
    items = iter(iterable)
    queues = [[] for _ in range(n)]

    def one(queue):
        while True:
            if not queue:
                item = next(items, _missing)
                if item is _missing:
                    return
                for other in queues:
                    other.append(item)
            yield queue.pop(0)

    return tuple([one(queue) for queue in queues])


def groupby(iterable, key=None):
    """Yields a key and an iterator of the items with it, of which only the last one's is valid."""
    items = iter(iterable)
    state = [next(items, _missing)]
    if state[0] is _missing:
        return
    key = key or (lambda item: item)

    def group(wanted):
        while state[0] is not _missing and key(state[0]) == wanted:
            item = state[0]
            state[0] = next(items, _missing)
            yield item

    while state[0] is not _missing:
        wanted = key(state[0])
        yield wanted, group(wanted)
        while state[0] is not _missing and key(state[0]) == wanted:
            state[0] = next(items, _missing)


def product(*iterables, repeat=1):
    pools = [tuple(i) for i in iterables] * repeat
    indices = [0] * len(pools)
    if [p for p in pools if not p]:
        return
    while True:
        yield tuple([pool[i] for pool, i in zip(pools, indices)])
        at = len(pools) - 1
        while at >= 0:
            indices[at] += 1
            if indices[at] < len(pools[at]):
                break
            indices[at] = 0
            at -= 1
        if at < 0:
            return


def permutations(iterable, r=None):
    pool = tuple(iterable)
    n = len(pool)
    r = n if r is None else r
    if r > n:
        return
    indices, cycles = list(range(n)), list(range(n, n - r, -1))
    yield tuple([pool[i] for i in indices[:r]])
    while n:
        for i in reversed(range(r)):
            cycles[i] -= 1
            if cycles[i] == 0:
                indices[i:] = indices[i + 1 :] + indices[i : i + 1]
                cycles[i] = n - i
            else:
                j = n - cycles[i]
                indices[i], indices[j] = indices[j], indices[i]
                yield tuple([pool[k] for k in indices[:r]])
                break
        else:
            return


def combinations(iterable, r):
    pool = tuple(iterable)
    n = len(pool)
    if r > n:
        return
    indices = list(range(r))
    while True:
        yield tuple([pool[i] for i in indices])
        at = r - 1
        while at >= 0 and indices[at] == at + n - r:
            at -= 1
        if at < 0:
            return
        indices[at] += 1
        for j in range(at + 1, r):
            indices[j] = indices[j - 1] + 1


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)
    n = len(pool)
    if not n and r:
        return
    indices = [0] * r
    while True:
        yield tuple([pool[i] for i in indices])
        at = r - 1
        while at >= 0 and indices[at] == n - 1:
            at -= 1
        if at < 0:
            return
        indices[at:] = [indices[at] + 1] * (r - at)
