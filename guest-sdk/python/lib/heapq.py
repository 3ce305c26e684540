"""Heaps."""

from uheapq import heapify, heappop, heappush


def heappushpop(heap, item):
    if heap and heap[0] < item:
        heappush(heap, item)
        return heappop(heap)
    return item


def heapreplace(heap, item):
    least = heappop(heap)
    heappush(heap, item)
    return least


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[: max(n, 0)]


def merge(*iterables, key=None, reverse=False):
    """Yields what sorted iterables have, in order."""
    heads = []
    for iterable in iterables:
        items = iter(iterable)
        for item in items:
            heads.append([item if key is None else key(item), item, items])
            break
    while heads:
        at = 0
        for i in range(1, len(heads)):
            if (heads[at][0] < heads[i][0]) if reverse else (heads[i][0] < heads[at][0]):
                at = i
        head = heads[at]
        yield head[1]
        for item in head[2]:
            head[0], head[1] = item if key is None else key(item), item
            break
        else:
            del heads[at]
