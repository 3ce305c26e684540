"""Time zones, of which there is only UTC: the host has no others."""

from datetime import timedelta, tzinfo

_UTC = ("UTC", "Etc/UTC", "GMT", "Etc/GMT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal")


class ZoneInfoNotFoundError(KeyError):
    pass


class ZoneInfo(tzinfo):
    def __init__(self, key):
        if key not in _UTC:
            raise ZoneInfoNotFoundError("No time zone found with key " + key + ": there is only UTC in the sandbox, and "
                                        "timezone(timedelta(hours=n)) of datetime")
        self.key = key

    def utcoffset(self, dt):
        return timedelta(0)

    dst = utcoffset

    def tzname(self, dt):
        return "UTC" if "GMT" not in self.key else "GMT"

    def __str__(self):
        return self.key

    def __repr__(self):
        return "zoneinfo.ZoneInfo(key=" + repr(self.key) + ")"


def available_timezones():
    return set(_UTC)
