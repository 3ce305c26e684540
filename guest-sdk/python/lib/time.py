"""Clocks of the host, and times as text. The local time is UTC."""

import _wasmres_service as service

from wasmres import abi

timezone = altzone = daylight = 0
tzname = ("UTC", "UTC")


def time():
    """Seconds since 1970."""
    return service.info(abi.INFO_WALL_TIME) / 1e9


def time_ns():
    return service.info(abi.INFO_WALL_TIME)


def monotonic():
    """Seconds from an arbitrary start."""
    return service.info(abi.INFO_MONOTONIC) / 1e9


def monotonic_ns():
    return service.info(abi.INFO_MONOTONIC)


perf_counter, perf_counter_ns = monotonic, monotonic_ns
process_time, process_time_ns, thread_time = monotonic, monotonic_ns, monotonic


def sleep(seconds):
    """Returns at once: a request that waits holds an instance."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")


class struct_time:
    """The nine fields of a time, by number and by name."""

    def __init__(self, fields):
        self._fields = tuple(fields)

    tm_zone, tm_gmtoff = "UTC", 0

    def __getattr__(self, name):
        if name in _FIELDS:
            return self._fields[_FIELDS.index(name)]
        raise AttributeError(name)

    def __getitem__(self, i):
        return self._fields[i]

    def __iter__(self):
        return iter(self._fields)

    def __len__(self):
        return 9

    def __eq__(self, other):
        return tuple(self) == tuple(other)

    def __repr__(self):
        return "time.struct_time(" + ", ".join(["%s=%d" % pair for pair in zip(_FIELDS, self._fields)]) + ")"


_FIELDS = ("tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst")


def gmtime(seconds=None):
    from _dates import EPOCH, civil, day_of_year

    days, rest = divmod(int((time() if seconds is None else seconds) // 1), 86400)
    year, month, day = civil(days + EPOCH)
    return struct_time((year, month, day, rest // 3600, rest // 60 % 60, rest % 60, (days + 3) % 7,
                        day_of_year(year, month, day), 0))


localtime = gmtime


def mktime(fields):
    from _dates import EPOCH, ordinal_of

    days = ordinal_of(fields[0], fields[1], 1) + fields[2] - 1 - EPOCH
    return float(days * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5])


def strftime(format, fields=None):
    from _dates import Moment

    f = gmtime() if fields is None else fields
    return Moment(f[0], f[1], f[2], f[3], f[4], f[5], 0, 0, "UTC").format(format)


def strptime(text, format="%a %b %d %H:%M:%S %Y"):
    from _dates import date_of, day_of_year, hour_of, ordinal_of, parse

    found = parse(text, format)
    year, month, day = date_of(found)
    return struct_time((year, month, day, hour_of(found), found.get("M", 0), found.get("S", 0),
                        (ordinal_of(year, month, day) + 6) % 7, day_of_year(year, month, day), -1))


def ctime(seconds=None):
    return asctime(gmtime(seconds))


def asctime(fields=None):
    return strftime("%a %b %e %H:%M:%S %Y", fields)
