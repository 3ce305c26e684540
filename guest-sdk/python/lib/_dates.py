"""The calendar, and times as text."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")
EPOCH = 719163  # the ordinal of 1970-01-01


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year, month):
    return 29 if month == 2 and is_leap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def day_of_year(year, month, day):
    return (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)[month - 1] + day + (month > 2 and is_leap(year))


def ordinal_of(year, month, day):
    """Days since the year 0: 0001-01-01 is 1."""
    y = year - 1
    return y * 365 + y // 4 - y // 100 + y // 400 + day_of_year(year, month, day)


def iso_week(ordinal):
    """Year, week and weekday as ISO 8601 counts them."""
    weekday = (ordinal + 6) % 7  # Monday is 0
    thursday = ordinal - weekday + 3
    year = (thursday - 1) * 400 // 146097 + 1
    while ordinal_of(year, 1, 1) > thursday:
        year -= 1
    while ordinal_of(year + 1, 1, 1) <= thursday:
        year += 1
    return year, (thursday - ordinal_of(year, 1, 1)) // 7 + 1, weekday + 1


def offset_text(seconds, colon=":"):
    """An offset from UTC, as in +02:00."""
    sign = "-" if seconds < 0 else "+"
    minutes, rest = divmod(abs(seconds), 60)
    text = "%s%02d%s%02d" % (sign, minutes // 60, colon, minutes % 60)
    return text + colon + "%02d" % rest if rest else text


class Moment:
    """What strftime writes: fields of the calendar; offset in seconds and zone are None of a naive time."""

    def __init__(self, year, month, day, hour=0, minute=0, second=0, microsecond=0, offset=None, zone=None):
        self.year, self.month, self.day = year, month, day
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond
        self.offset, self.zone = offset, zone
        self.ordinal = ordinal_of(year, month, day)
        self.weekday = (self.ordinal + 6) % 7

    def format(self, pattern):
        parts = pattern.split("%")
        text, i = parts[0], 1
        while i < len(parts):
            part = parts[i]
            i += 1
            if not part:  # two percent signs, or one at the end
                text += "%"
                if i < len(parts):
                    text += parts[i]
                    i += 1
                continue
            c = part[0]
            if c == "-" and len(part) > 1:
                value = self._directive(part[1]).lstrip("0 ") or "0"
                text += value + part[2:]
            else:
                text += self._directive(c) + part[1:]
        return text

    def _directive(self, c):
        if c in _COMPOSED:
            return self.format(_COMPOSED[c])
        function = _DIRECTIVES.get(c)
        return function(self) if function else "%" + c


def _week(m, first):
    """The week of the year, whose weeks begin with a weekday, Monday 0."""
    days = day_of_year(m.year, m.month, m.day) - 1
    return "%02d" % ((days + 7 - (m.weekday - first) % 7) // 7)


_COMPOSED = {"c": "%a %b %e %H:%M:%S %Y", "x": "%m/%d/%y", "X": "%H:%M:%S", "T": "%H:%M:%S", "D": "%m/%d/%y", "F": "%Y-%m-%d",
             "R": "%H:%M", "r": "%I:%M:%S %p", "h": "%b"}
_DIRECTIVES = {
    "a": lambda m: DAYS[m.weekday][:3],
    "A": lambda m: DAYS[m.weekday],
    "b": lambda m: MONTHS[m.month - 1][:3],
    "B": lambda m: MONTHS[m.month - 1],
    "C": lambda m: "%02d" % (m.year // 100),
    "d": lambda m: "%02d" % m.day,
    "e": lambda m: "%2d" % m.day,
    "f": lambda m: "%06d" % m.microsecond,
    "g": lambda m: "%02d" % (iso_week(m.ordinal)[0] % 100),
    "G": lambda m: str(iso_week(m.ordinal)[0]),
    "H": lambda m: "%02d" % m.hour,
    "I": lambda m: "%02d" % ((m.hour + 11) % 12 + 1),
    "j": lambda m: "%03d" % day_of_year(m.year, m.month, m.day),
    "k": lambda m: "%2d" % m.hour,
    "l": lambda m: "%2d" % ((m.hour + 11) % 12 + 1),
    "m": lambda m: "%02d" % m.month,
    "M": lambda m: "%02d" % m.minute,
    "n": lambda m: "\n",
    "p": lambda m: "AM" if m.hour < 12 else "PM",
    "P": lambda m: "am" if m.hour < 12 else "pm",
    "s": lambda m: str((m.ordinal - EPOCH) * 86400 + m.hour * 3600 + m.minute * 60 + m.second - (m.offset or 0)),
    "S": lambda m: "%02d" % m.second,
    "t": lambda m: "\t",
    "u": lambda m: str(m.weekday + 1),
    "U": lambda m: _week(m, 6),
    "V": lambda m: "%02d" % iso_week(m.ordinal)[1],
    "w": lambda m: str((m.weekday + 1) % 7),
    "W": lambda m: _week(m, 0),
    "y": lambda m: "%02d" % (m.year % 100),
    "Y": lambda m: str(m.year),
    "z": lambda m: "" if m.offset is None else offset_text(m.offset, ""),
    "Z": lambda m: m.zone or "",
}

_DIGITS = {"d": 2, "e": 2, "f": 6, "G": 4, "H": 2, "I": 2, "j": 3, "m": 2, "M": 2, "S": 2, "U": 2, "V": 2, "W": 2, "u": 1,
           "w": 1, "y": 2, "Y": 4}
_BOUNDS = {"d": (1, 31), "H": (0, 23), "I": (1, 12), "j": (1, 366), "m": (1, 12), "M": (0, 59), "S": (0, 61), "Y": (1, 9999),
           "V": (1, 53), "u": (1, 7)}


def parse(text, pattern):
    """The fields that a text gives by a pattern of strptime, a dict by directive: z is in seconds."""
    for c in "cxXTDFRrh":
        if "%" + c in pattern:
            pattern = pattern.replace("%" + c, _COMPOSED[c])
    found, at, i = {}, 0, 0
    while i < len(pattern):
        c = pattern[i]
        i += 1
        if c.isspace():
            while at < len(text) and text[at].isspace():
                at += 1
        elif c != "%":
            if text[at : at + 1].lower() != c.lower():
                raise _mismatch(text, pattern)
            at += 1
        else:
            c = pattern[i : i + 1]
            i += 1
            at = _parse_directive(c, text, at, found, pattern)
    if at < len(text):
        raise ValueError("unconverted data remains: " + text[at:])
    return found


def _mismatch(text, pattern):
    return ValueError("time data " + repr(text) + " does not match format " + repr(pattern))


def _parse_directive(c, text, at, found, pattern):
    """Puts what a directive stands for into found, and returns where the text goes on."""
    if c in _DIGITS:
        return _parse_number(c, text, at, found, pattern)
    if c == "%":
        if text[at : at + 1] == "%":
            return at + 1
        raise _mismatch(text, pattern)
    if c == "z":
        seconds, length = parse_offset(text[at:], True)
        if length == 0:
            raise _mismatch(text, pattern)
        found["z"] = seconds
        return at + length
    rest = text[at:].lower()
    for i, name in enumerate(_names(c)):
        if rest.startswith(name):
            found[c if c in "pZ" else "aday" if c in "aA" else "m"] = name if c == "Z" else i if c in "paA" else i + 1
            return at + len(name)
    if c not in _NAMED:
        raise ValueError("'" + c + "' is a bad directive in format '" + pattern + "'")
    raise _mismatch(text, pattern)


_NAMED = "aAbBpZ"


def _names(c):
    if c == "p":
        return ("am", "pm")
    if c == "Z":
        return ("utc", "gmt")
    names = DAYS if c in "aA" else MONTHS if c in "bB" else ()
    return [name.lower() if c in "AB" else name[:3].lower() for name in names]


def _parse_number(c, text, at, found, pattern):
    start = at
    if c in "de" and text[at : at + 1] == " ":
        at = start = at + 1
    end = min(len(text), at + _DIGITS[c])
    while at < end and "0" <= text[at] <= "9":
        at += 1
    low, high = _BOUNDS.get(c, (0, 999999))
    # As few digits as make a value that is possible: "1331" is 1, 3:31 in "%m%H…" no more than in CPython.
    while at > start and not low <= int(text[start:at]) <= high:
        at -= 1
    if at == start or (c in "YG" and at - start < 4) or (c == "y" and at - start < 2):
        raise _mismatch(text, pattern)
    digits = text[start:at]
    c = "d" if c == "e" else c
    found[c] = int((digits + "00000")[:6]) if c == "f" else int(digits)
    return at


def parse_offset(text, loose=False):
    """Seconds of an offset that text begins with, as in Z, +0200 and -02:00, and how many characters it has; 0 when there
    is none."""
    if text[:1] in ("Z", "z"):
        return 0, 1
    if text[:1] not in ("+", "-") or not text[:0] == "":
        return 0, 0
    values, at = [], 1
    while at < len(text) and len(values) < 3:
        skip = at + 1 if values and text[at] == ":" else at
        if not text[skip : skip + 2].isdigit() or len(text) < skip + 2:
            break
        values.append(int(text[skip : skip + 2]))
        at = skip + 2
    if not values or (loose and len(values) < 2):
        return 0, 0
    values += [0, 0]
    seconds = values[0] * 3600 + values[1] * 60 + values[2]
    return -seconds if text[0] == "-" else seconds, at


def date_of(found):
    """Year, month and day of what was parsed."""
    if "V" in found and "G" in found:
        monday = ordinal_of(found["G"], 1, 4)
        monday -= (monday + 6) % 7
        return civil(monday + 7 * (found["V"] - 1) + found.get("u", 1) - 1)
    year = found.get("Y")
    if year is None:
        year = 1900 if "y" not in found else found["y"] + (1900 if found["y"] > 68 else 2000)
    if "j" in found and "m" not in found:
        return civil(ordinal_of(year, 1, 1) + found["j"] - 1)
    return year, found.get("m", 1), found.get("d", 1)


def hour_of(found):
    if "I" not in found:
        return found.get("H", 0)
    return found["I"] % 12 + (12 if found.get("p") == 1 else 0)


def civil(ordinal):
    """Year, month and day."""
    from wasmres.times import civil

    return civil(ordinal - EPOCH)
