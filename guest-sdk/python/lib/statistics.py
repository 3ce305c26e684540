"""Figures of samples."""

import math


class StatisticsError(ValueError):
    pass


def _data(data, what, least=1):
    values = list(data)
    if len(values) < least:
        raise StatisticsError(what + (" requires at least one data point" if least == 1 else " requires at least two data points"))
    return values


def _exact(total, n):
    """A mean, which is an int where the values are and it is whole."""
    if isinstance(total, int):
        return total // n if total % n == 0 else total / n
    return total / n


def _sum(values):
    return sum(values) if all([isinstance(v, int) for v in values]) else _fsum(values)


def _fsum(values):
    """The sum without the errors of rounding of what is added before."""
    partials = []
    for x in values:
        i = 0
        x = float(x)
        for y in partials:
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low:
                partials[i] = low
                i += 1
            x = high
        partials[i:] = [x]
    return sum(partials)


def mean(data):
    values = _data(data, "mean")
    return _exact(_sum(values), len(values))


def fmean(data, weights=None):
    values = _data(data, "fmean")
    if weights is None:
        return _fsum(values) / len(values)
    return _fsum([v * w for v, w in zip(values, weights)]) / _fsum(weights)


def geometric_mean(data):
    values = _data(data, "geometric mean")
    return math.exp(_fsum([math.log(v) for v in values]) / len(values))


def harmonic_mean(data, weights=None):
    values = _data(data, "harmonic_mean")
    if 0 in values:
        return 0
    if not all([isinstance(v, int) for v in values]):
        return len(values) / _fsum([1 / v for v in values])
    product = 1
    for v in values:
        product *= v
    return len(values) * product / sum([product // v for v in values])


def _middle(data):
    values = sorted(data)
    if not values:
        raise StatisticsError("no median for empty data")
    return values, len(values) // 2


def median(data):
    values, i = _middle(data)
    return values[i] if len(values) % 2 else (values[i - 1] + values[i]) / 2


def median_low(data):
    values, i = _middle(data)
    return values[i] if len(values) % 2 else values[i - 1]


def median_high(data):
    values, i = _middle(data)
    return values[i]


def _counts(data):
    counts = {}
    for value in data:
        counts[value] = counts.get(value, 0) + 1
    return counts


def mode(data):
    counts = _counts(data)
    if not counts:
        raise StatisticsError("no mode for empty data")
    most = max(counts.values())
    return [value for value, n in counts.items() if n == most][0]


def multimode(data):
    counts = _counts(data)
    most = max(counts.values(), default=0)
    return [value for value, n in counts.items() if n == most]


def _squares(values, center):
    if center is not None:
        return _sum([(v - center) ** 2 for v in values]), len(values)
    n, total = len(values), _sum(values)
    if isinstance(total, int):
        return (n * sum([v * v for v in values]) - total * total) / n, n
    center = total / n
    return _fsum([(v - center) ** 2 for v in values]), n


def variance(data, xbar=None):
    squares, n = _squares(_data(data, "variance", 2), xbar)
    return _whole(squares / (n - 1), data)


def pvariance(data, mu=None):
    squares, n = _squares(_data(data, "pvariance"), mu)
    return _whole(squares / n, data)


def _whole(value, data):
    ints = isinstance(data, (list, tuple, range)) and all([isinstance(v, int) for v in data])
    return int(value) if ints and value == int(value) else value


def stdev(data, xbar=None):
    squares, n = _squares(_data(data, "stdev", 2), xbar)
    return math.sqrt(squares / (n - 1))


def pstdev(data, mu=None):
    squares, n = _squares(_data(data, "pstdev"), mu)
    return math.sqrt(squares / n)


def quantiles(data, *, n=4, method="exclusive"):
    values = sorted(data)
    if n < 1:
        raise StatisticsError("n must be at least 1")
    if len(values) < 2:
        raise StatisticsError("must have at least two data points")
    found = []
    for i in range(1, n):
        if method == "inclusive":
            j, delta = divmod(i * (len(values) - 1), n)
            found.append((values[j] * (n - delta) + values[j + 1] * delta) / n)
        else:
            j = min(max(i * (len(values) + 1) // n, 1), len(values) - 1)
            delta = i * (len(values) + 1) - j * n
            found.append((values[j - 1] * (n - delta) + values[j] * delta) / n)
    return found


def covariance(x, y):
    x, y = list(x), list(y)
    mx, my = fmean(x), fmean(y)
    return _fsum([(a - mx) * (b - my) for a, b in zip(x, y)]) / (len(x) - 1)


def correlation(x, y):
    x, y = list(x), list(y)
    mx, my = fmean(x), fmean(y)
    sxy = _fsum([(a - mx) * (b - my) for a, b in zip(x, y)])
    return sxy / math.sqrt(_fsum([(a - mx) ** 2 for a in x]) * _fsum([(b - my) ** 2 for b in y]))
