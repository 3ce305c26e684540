"""Dates and times. The local time is UTC, since the host tells no time zone."""

import _dates
from _dates import Moment, civil, days_in_month, offset_text, ordinal_of
from time import struct_time, time_ns

MINYEAR, MAXYEAR = 1, 9999
_DAY = 86400 * 1000000  # microseconds


class timedelta:
    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        seconds += minutes * 60 + hours * 3600
        days += weeks * 7
        if isinstance(days, float) or isinstance(seconds, float):
            whole_days, whole = int(days), int(seconds)
            rest = (days - whole_days) * 86400
            microseconds += whole_days * _DAY + whole * 1000000 + (rest + (seconds - whole)) * 1000000
        else:
            microseconds += days * _DAY + seconds * 1000000
        self._us = round(microseconds + milliseconds * 1000)
        self.days, rest = divmod(self._us, _DAY)
        self.seconds, self.microseconds = divmod(rest, 1000000)
        if abs(self.days) > 999999999:
            raise OverflowError("days=" + str(self.days) + "; must have magnitude <= 999999999")

    def total_seconds(self):
        return self._us / 1000000

    def __add__(self, other):
        return _delta(self._us + other._us) if isinstance(other, timedelta) else NotImplemented

    def __sub__(self, other):
        return _delta(self._us - other._us) if isinstance(other, timedelta) else NotImplemented

    def __neg__(self):
        return _delta(-self._us)

    def __pos__(self):
        return self

    def __abs__(self):
        return _delta(abs(self._us))

    def __mul__(self, other):
        return _delta(round(self._us * other)) if isinstance(other, (int, float)) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            return self._us / other._us
        return _delta(round(self._us / other))

    def __floordiv__(self, other):
        if isinstance(other, timedelta):
            return self._us // other._us
        return _delta(self._us // other)

    def __mod__(self, other):
        return _delta(self._us % other._us)

    def __divmod__(self, other):
        return self // other, self % other

    def __bool__(self):
        return self._us != 0

    def __eq__(self, other):
        return isinstance(other, timedelta) and self._us == other._us

    def __lt__(self, other):
        return self._us < other._us

    def __le__(self, other):
        return self._us <= other._us

    def __gt__(self, other):
        return self._us > other._us

    def __ge__(self, other):
        return self._us >= other._us

    def __hash__(self):
        return hash(self._us)

    def __str__(self):
        text = ""
        if self.days:
            text = str(self.days) + (" day, " if abs(self.days) == 1 else " days, ")
        minutes, seconds = divmod(self.seconds, 60)
        text += "%d:%02d:%02d" % (minutes // 60, minutes % 60, seconds)
        return text + (".%06d" % self.microseconds if self.microseconds else "")

    def __repr__(self):
        shown = [n + "=" + str(getattr(self, n)) for n in ("days", "seconds", "microseconds") if getattr(self, n)]
        return "datetime.timedelta(" + (", ".join(shown) or "0") + ")"


def _delta(us):
    return timedelta(0, 0, us)


timedelta.min = timedelta(-999999999)
timedelta.resolution = timedelta(microseconds=1)
timedelta.max = timedelta(days=999999999, hours=23, minutes=59, seconds=59, microseconds=999999)


class tzinfo:
    def utcoffset(self, dt):
        raise NotImplementedError("a tzinfo subclass must implement utcoffset()")

    def tzname(self, dt):
        raise NotImplementedError("a tzinfo subclass must implement tzname()")

    def dst(self, dt):
        raise NotImplementedError("a tzinfo subclass must implement dst()")

    def fromutc(self, dt):
        return dt + dt.utcoffset()


class timezone(tzinfo):
    def __init__(self, offset, name=None):
        if not isinstance(offset, timedelta):
            raise TypeError("timezone() argument 1 must be datetime.timedelta")
        if abs(offset._us) >= _DAY:
            raise ValueError("offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24)")
        self._offset = offset
        self._name = name

    def utcoffset(self, dt):
        return self._offset

    def dst(self, dt):
        return None

    def tzname(self, dt):
        if self._name is not None:
            return self._name
        return "UTC" + (offset_text(self._offset._us // 1000000) if self._offset else "")

    def __eq__(self, other):
        return isinstance(other, timezone) and self._offset == other._offset

    def __hash__(self):
        return hash(self._offset)

    def __str__(self):
        return self.tzname(None)

    def __repr__(self):
        if self is timezone.utc:
            return "datetime.timezone.utc"
        return "datetime.timezone(" + repr(self._offset) + (", " + repr(self._name) if self._name is not None else "") + ")"


UTC = timezone.utc = timezone(timedelta(0))


def _check_date(year, month, day):
    for value in (year, month, day):
        if not isinstance(value, int):
            raise TypeError("'" + type(value).__name__ + "' object cannot be interpreted as an integer")
    if not MINYEAR <= year <= MAXYEAR:
        raise ValueError("year " + str(year) + " is out of range")
    if not 1 <= month <= 12:
        raise ValueError("month must be in 1..12")
    if not 1 <= day <= days_in_month(year, month):
        raise ValueError("day is out of range for month")


def _check_time(hour, minute, second, microsecond, tzinfo_):
    if not 0 <= hour <= 23:
        raise ValueError("hour must be in 0..23")
    if not 0 <= minute <= 59:
        raise ValueError("minute must be in 0..59")
    if not 0 <= second <= 59:
        raise ValueError("second must be in 0..59")
    if not 0 <= microsecond <= 999999:
        raise ValueError("microsecond must be in 0..999999")
    if tzinfo_ is not None and not isinstance(tzinfo_, tzinfo):
        raise TypeError("tzinfo argument must be None or of a tzinfo subclass")


class date:
    def __init__(self, year, month, day):
        _check_date(year, month, day)
        self.year, self.month, self.day = year, month, day

    @classmethod
    def today(cls):
        return cls.fromtimestamp(time_ns() // 1000000000)

    @classmethod
    def fromtimestamp(cls, timestamp):
        return cls.fromordinal(_dates.EPOCH + int(timestamp // 86400))

    @classmethod
    def fromordinal(cls, ordinal):
        if not 1 <= ordinal <= 3652059:
            raise OverflowError("date value out of range")
        return cls(*civil(ordinal))

    @classmethod
    def fromisoformat(cls, text):
        return cls(*_parsed(text, _iso_date, text))

    @classmethod
    def fromisocalendar(cls, year, week, day):
        if not 1 <= week <= 53 or not 1 <= day <= 7:
            raise ValueError("Invalid week: " + str(week) if not 1 <= week <= 53 else "Invalid weekday: " + str(day))
        return cls(*_dates.date_of({"G": year, "V": week, "u": day}))

    def replace(self, year=None, month=None, day=None):
        return type(self)(year or self.year, month or self.month, day or self.day)

    def toordinal(self):
        return ordinal_of(self.year, self.month, self.day)

    def weekday(self):
        return (self.toordinal() + 6) % 7

    def isoweekday(self):
        return self.weekday() + 1

    def isocalendar(self):
        return IsoCalendarDate(*_dates.iso_week(self.toordinal()))

    def isoformat(self):
        return "%04d-%02d-%02d" % (self.year, self.month, self.day)

    def _moment(self):
        return Moment(self.year, self.month, self.day)

    def strftime(self, format):
        return self._moment().format(format)

    def __format__(self, spec):
        return self.strftime(spec) if spec else str(self)

    def ctime(self):
        return self.strftime("%a %b %e %H:%M:%S %Y")

    def timetuple(self):
        m = self._moment()
        return struct_time((m.year, m.month, m.day, m.hour, m.minute, m.second, m.weekday,
                            _dates.day_of_year(m.year, m.month, m.day), 0 if m.offset == 0 else -1))

    def __add__(self, other):
        return type(self).fromordinal(self.toordinal() + other.days) if isinstance(other, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return type(self).fromordinal(self.toordinal() - other.days)
        return timedelta(self.toordinal() - other.toordinal())

    def _key(self, other):
        if type(other) is not type(self):
            raise TypeError("can't compare " + type(self).__name__ + " to " + type(other).__name__)
        return self.toordinal(), other.toordinal()

    def __eq__(self, other):
        if type(other) is not type(self):
            return False
        mine, its = self._key(other)
        return mine == its

    def __lt__(self, other):
        mine, its = self._key(other)
        return mine < its

    def __le__(self, other):
        mine, its = self._key(other)
        return mine <= its

    def __gt__(self, other):
        mine, its = self._key(other)
        return mine > its

    def __ge__(self, other):
        mine, its = self._key(other)
        return mine >= its

    def __hash__(self):
        return hash(self.toordinal())

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        return "datetime.date(%d, %d, %d)" % (self.year, self.month, self.day)


class IsoCalendarDate(tuple):
    @property
    def year(self):
        return self[0]

    @property
    def week(self):
        return self[1]

    @property
    def weekday(self):
        return self[2]

    def __init__(self, *fields):
        super().__init__(fields)

    def __repr__(self):
        return "datetime.IsoCalendarDate(year=%d, week=%d, weekday=%d)" % (self[0], self[1], self[2])


date.min, date.max, date.resolution = date(1, 1, 1), date(9999, 12, 31), timedelta(1)


class time:
    def __init__(self, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        _check_time(hour, minute, second, microsecond, tzinfo)
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond
        self.tzinfo = tzinfo
        self.fold = fold

    @classmethod
    def fromisoformat(cls, text):
        return cls(*_parsed(text, _iso_time, text[1:] if text.startswith("T") else text))

    def replace(self, hour=None, minute=None, second=None, microsecond=None, tzinfo=True, *, fold=None):
        return type(self)(
            self.hour if hour is None else hour,
            self.minute if minute is None else minute,
            self.second if second is None else second,
            self.microsecond if microsecond is None else microsecond,
            self.tzinfo if tzinfo is True else tzinfo,
        )

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(None)

    def dst(self):
        return None if self.tzinfo is None else self.tzinfo.dst(None)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(None)

    def isoformat(self, timespec="auto"):
        return _time_text(self, timespec) + _offset_of(self)

    def strftime(self, format):
        offset = self.utcoffset()
        seconds = None if offset is None else offset._us // 1000000
        return Moment(1900, 1, 1, self.hour, self.minute, self.second, self.microsecond, seconds, self.tzname()).format(format)

    def __format__(self, spec):
        return self.strftime(spec) if spec else str(self)

    def _us(self):
        us = ((self.hour * 60 + self.minute) * 60 + self.second) * 1000000 + self.microsecond
        offset = self.utcoffset()
        return us - offset._us if offset else us

    def _key(self, other):
        if not isinstance(other, time):
            raise TypeError("can't compare datetime.time to " + type(other).__name__)
        if (self.tzinfo is None) != (other.tzinfo is None):
            raise TypeError("can't compare offset-naive and offset-aware times")
        return self._us(), other._us()

    def __eq__(self, other):
        return isinstance(other, time) and (self.tzinfo is None) == (other.tzinfo is None) and self._us() == other._us()

    def __lt__(self, other):
        mine, its = self._key(other)
        return mine < its

    def __le__(self, other):
        mine, its = self._key(other)
        return mine <= its

    def __gt__(self, other):
        mine, its = self._key(other)
        return mine > its

    def __ge__(self, other):
        mine, its = self._key(other)
        return mine >= its

    def __hash__(self):
        return hash(self._us())

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        return "datetime.time(" + _time_fields(self) + _tz_field(self) + ")"


time.min, time.max, time.resolution = time(), time(23, 59, 59, 999999), timedelta(microseconds=1)


def _time_text(t, timespec):
    if timespec == "auto":
        timespec = "microseconds" if t.microsecond else "seconds"
    text = "%02d:%02d:%02d" % (t.hour, t.minute, t.second)
    if timespec == "hours":
        return text[:2]
    if timespec == "minutes":
        return text[:5]
    if timespec == "seconds":
        return text
    if timespec == "milliseconds":
        return text + ".%03d" % (t.microsecond // 1000)
    if timespec == "microseconds":
        return text + ".%06d" % t.microsecond
    raise ValueError("Unknown timespec value")


def _offset_of(t):
    offset = t.utcoffset()
    return "" if offset is None else offset_text(offset._us // 1000000)


def _time_fields(t):
    text = "%d, %d" % (t.hour, t.minute)
    if t.second or t.microsecond:
        text += ", %d" % t.second
    return text + (", %d" % t.microsecond if t.microsecond else "")


def _tz_field(t):
    return "" if t.tzinfo is None else ", tzinfo=" + repr(t.tzinfo)


def _number(text, length):
    if len(text) != length or not text.isdigit():
        raise ValueError(text)
    return int(text)


def _parsed(text, parse, part):
    try:
        return parse(part)
    except ValueError:
        pass
    raise ValueError("Invalid isoformat string: " + repr(text))


def _iso_date(text):
    year = _number(text[:4], 4)
    dash = text[4:5] == "-"
    rest = text[5:] if dash else text[4:]
    if rest.startswith("W"):
        week, day = _number(rest[1:3], 2), rest[4:] if dash else rest[3:]
        return _dates.date_of({"G": year, "V": week, "u": _number(day, 1) if day else 1})
    if dash and rest[2:3] != "-":
        raise ValueError(text)
    return year, _number(rest[:2], 2), _number(rest[3:] if dash else rest[2:], 2)


def _iso_time(text):
    """Hour, minute, second, microsecond and tzinfo."""
    zone = None
    for i in range(len(text)):
        if text[i] in "+-Z":
            seconds, length = _dates.parse_offset(text[i:])
            if length != len(text) - i:
                raise ValueError(text)
            zone = timezone(timedelta(0, seconds)) if seconds else UTC
            text = text[:i]
            break
    micro = 0
    for mark in ".,":
        if mark in text:
            text, fraction = text.split(mark, 1)
            if not fraction.isdigit():
                raise ValueError(text)
            micro = int((fraction + "00000")[:6])
    if ":" in text:
        values = [_number(part, 2) for part in text.split(":")]
    else:
        values = [_number(text[i : i + 2], 2) for i in range(0, len(text), 2)]
    if not 1 <= len(values) <= 3:
        raise ValueError(text)
    values += [0, 0]
    return values[0], values[1], values[2], micro, zone


class datetime(date):
    def __init__(self, year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        _check_date(year, month, day)
        _check_time(hour, minute, second, microsecond, tzinfo)
        self.year, self.month, self.day = year, month, day
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond
        self.tzinfo = tzinfo
        self.fold = fold

    @classmethod
    def _of(cls, us, tz):
        """That of microseconds since the year 0."""
        days, us = divmod(us, _DAY)
        if not 1 <= days <= 3652059:
            raise OverflowError("date value out of range")
        year, month, day = civil(days)
        seconds, us = divmod(us, 1000000)
        minutes, seconds = divmod(seconds, 60)
        return cls(year, month, day, minutes // 60, minutes % 60, seconds, us, tz)

    def _local_us(self):
        seconds = (self.toordinal() * 24 + self.hour) * 3600 + self.minute * 60 + self.second
        return seconds * 1000000 + self.microsecond

    def _utc_us(self):
        offset = self.utcoffset()
        return self._local_us() - (offset._us if offset else 0)

    @classmethod
    def _at(cls, us, tz):
        """That of microseconds since 1970."""
        made = cls._of(us + _dates.EPOCH * _DAY, tz)
        return tz.fromutc(made) if tz is not None else made

    @classmethod
    def now(cls, tz=None):
        return cls._at(time_ns() // 1000, tz)

    @classmethod
    def utcnow(cls):
        return cls._at(time_ns() // 1000, None)

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def fromtimestamp(cls, timestamp, tz=None):
        whole = int(timestamp // 1)
        return cls._at(whole * 1000000 + round((timestamp - whole) * 1000000), tz)

    @classmethod
    def utcfromtimestamp(cls, timestamp):
        return cls.fromtimestamp(timestamp)

    @classmethod
    def fromordinal(cls, ordinal):
        return cls(*civil(ordinal))

    @classmethod
    def combine(cls, date, time, tzinfo=True):
        return cls(date.year, date.month, date.day, time.hour, time.minute, time.second, time.microsecond,
                   time.tzinfo if tzinfo is True else tzinfo)

    @classmethod
    def fromisoformat(cls, text):
        size = _iso_date_size(text)
        fields = _parsed(text, _iso_date, text[:size])
        if len(text) > size:
            fields += _parsed(text, _iso_time, text[size + 1 :])
        return cls(*fields)

    @classmethod
    def strptime(cls, text, format):
        found = _dates.parse(text, format)
        year, month, day = _dates.date_of(found)
        tz = timezone(timedelta(0, found["z"])) if found.get("z") else UTC if "z" in found else None
        return cls(year, month, day, _dates.hour_of(found), found.get("M", 0), found.get("S", 0), found.get("f", 0), tz)

    def date(self):
        return date(self.year, self.month, self.day)

    def time(self):
        return time(self.hour, self.minute, self.second, self.microsecond)

    def timetz(self):
        return time(self.hour, self.minute, self.second, self.microsecond, self.tzinfo)

    def replace(self, year=None, month=None, day=None, hour=None, minute=None, second=None, microsecond=None, tzinfo=True,
                *, fold=None):
        return type(self)(
            year or self.year,
            month or self.month,
            day or self.day,
            self.hour if hour is None else hour,
            self.minute if minute is None else minute,
            self.second if second is None else second,
            self.microsecond if microsecond is None else microsecond,
            self.tzinfo if tzinfo is True else tzinfo,
        )

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(self)

    def dst(self):
        return None if self.tzinfo is None else self.tzinfo.dst(self)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(self)

    def timestamp(self):
        return (self._utc_us() - _dates.EPOCH * _DAY) / 1000000

    def astimezone(self, tz=None):
        tz = UTC if tz is None else tz
        if self.tzinfo is tz:
            return self
        return tz.fromutc(self._of(self._utc_us(), tz))

    def utctimetuple(self):
        return self._of(self._utc_us(), UTC).timetuple()

    def _moment(self):
        offset = self.utcoffset()
        seconds = None if offset is None else offset._us // 1000000
        return Moment(self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond, seconds,
                      self.tzname())

    def isoformat(self, sep="T", timespec="auto"):
        return date.isoformat(self) + sep + _time_text(self, timespec) + _offset_of(self)

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        return "datetime.datetime(%d, %d, %d, %s%s)" % (self.year, self.month, self.day, _time_fields(self), _tz_field(self))

    def __add__(self, other):
        return self._of(self._local_us() + other._us, self.tzinfo) if isinstance(other, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return self._of(self._local_us() - other._us, self.tzinfo)
        if isinstance(other, datetime) and (self.tzinfo is None) != (other.tzinfo is None):
            raise TypeError("can't subtract offset-naive and offset-aware datetimes")
        mine, its = self._key(other)
        return _delta(mine - its)

    def _key(self, other):
        if not isinstance(other, datetime):
            raise TypeError("can't compare datetime.datetime to " + type(other).__name__)
        if (self.tzinfo is None) != (other.tzinfo is None):
            raise TypeError("can't compare offset-naive and offset-aware datetimes")
        return self._utc_us(), other._utc_us()

    def __eq__(self, other):
        if not isinstance(other, datetime) or (self.tzinfo is None) != (other.tzinfo is None):
            return False
        return self._utc_us() == other._utc_us()

    def __hash__(self):
        return hash(self._utc_us())


def _iso_date_size(text):
    if text[4:5] != "-":
        return 8 if text[4:5] != "W" else 8 if text[7:8].isdigit() else 7
    if text[5:6] == "W":
        return 10 if text[8:9] == "-" else 8
    return 10


datetime.min, datetime.max = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)
datetime.resolution = timedelta(microseconds=1)
