"""Times, and numbers in etags."""


def base36(n):
    digits = ""
    while n or not digits:
        n, low = divmod(n, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[low] + digits
    return digits


def rfc3339(milliseconds):
    """A time since 1970 in UTC, as in 2026-11-22T00:00:00.000Z."""
    days, rest = divmod(milliseconds, 86400000)
    year, month, day = civil(days)
    seconds, milliseconds = divmod(rest, 1000)
    minutes, seconds = divmod(seconds, 60)
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (year, month, day, minutes // 60, minutes % 60, seconds, milliseconds)


def civil(days):
    """Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar."""
    days += 719468
    era, day = divmod(days, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day = day - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year + era * 400 + (1 if month <= 2 else 0), month, day
