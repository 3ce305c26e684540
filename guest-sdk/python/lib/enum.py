"""Enumerations. A class is made into one when it subclasses Enum: see __init_subclass__."""


class auto:
    """The next number, or the name in lower case for a StrEnum."""


class nonmember:
    def __init__(self, value):
        self.value = value


def unique(enumeration):
    names = enumeration.__members__
    twice = [name for name, member in names.items() if member._name_ != name]
    if twice:
        shown = ", ".join([name + " -> " + names[name]._name_ for name in twice])
        raise ValueError("duplicate values found in <enum '" + enumeration.__name__ + "'>: " + shown)
    return enumeration


def _member_of(cls, value):
    """The member of a class that has a value."""
    found = cls._value2member_map_.get(value) if _hashable(value) else None
    if found is None:
        found = cls._missing_(value)
    if found is None:
        raise ValueError(repr(value) + " is not a valid " + cls.__name__)
    return found


class Enum:
    def __new__(cls, value):
        return _member_of(cls, value)

    def __init__(self, *_):
        pass

    @classmethod
    def __init_subclass__(cls, **_):
        members, by_value = {}, {}
        for name, value in list(cls.__dict__.items()):
            if name[0] == "_" or _is_code(value):
                continue
            if isinstance(value, nonmember):
                setattr(cls, name, value.value)
                continue
            if isinstance(value, auto) or value is auto:
                value = cls._generate_next_value_(name, 1, len(members), [m._value_ for m in members.values()])
            member = by_value.get(value) if _hashable(value) else None
            if member is None:
                member = cls._made(name, value)
                if _hashable(value):
                    by_value[value] = member
            members[name] = member
            setattr(cls, name, member)
        cls.__members__ = members
        cls._value2member_map_ = by_value
        cls._member_names_ = [name for name, m in members.items() if m._name_ == name]
        if members:
            cls.__init__ = _ready
        if issubclass(cls, _NATIVE):
            cls.__new__ = staticmethod(_member_of)
            for name, function in _NATIVE_METHODS.items():
                if name not in cls.__dict__:
                    setattr(cls, name, function)
            if not issubclass(cls, _SHOWN_AS_VALUES) and "__str__" not in cls.__dict__:
                cls.__str__ = Enum.__str__

    @classmethod
    def _made(cls, name, value):
        member = object.__new__(cls)
        if not issubclass(cls, _NATIVE):
            member.__init__(*(value if isinstance(value, tuple) else (value,)))
        elif isinstance(value, tuple):
            super(cls, member).__init__(*value)
        else:
            super(cls, member).__init__(value)
        member._name_, member._value_ = name, value
        return member

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return max(last_values) + 1 if last_values else start

    @classmethod
    def _missing_(cls, value):
        return None

    @classmethod
    def __class_getitem__(cls, name):
        return cls.__members__[name]

    def __class_iter__(cls):
        return iter([cls.__members__[name] for name in cls._member_names_])

    def __class_len__(cls):
        return len(cls._member_names_)

    name = property(lambda self: self._name_)
    value = property(lambda self: self._value_)

    def __str__(self):
        return type(self).__name__ + "." + self._name_

    def __repr__(self):
        return "<" + type(self).__name__ + "." + self._name_ + ": " + repr(self._value_) + ">"

    def __format__(self, spec):
        return ("{:" + spec + "}").format(str(self))

    def __hash__(self):
        return hash(self._name_)

    def __eq__(self, other):
        return self is other

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


_NATIVE = (str, int, float, bytes)


def _ready(self, *_):
    """The __init__ of a class whose members are made: calling the class gives one of them."""


def _hashable(value):
    return not isinstance(value, (list, dict, set))


def _is_code(value):
    return hasattr(value, "__get__") or type(value) in _CODE or isinstance(value, (property, classmethod, staticmethod))


_CODE = (type(_hashable), type((lambda x: lambda: x)(1)), type)


def _plain(value):
    return value._value_ if isinstance(value, Enum) else value


_NATIVE_METHODS = {  # of members that are values, too
    "__repr__": Enum.__repr__,
    "__hash__": lambda self: hash(self._value_),
    "__eq__": lambda self, other: self._value_ == _plain(other),
    "__lt__": lambda self, other: self._value_ < _plain(other),
    "__le__": lambda self, other: self._value_ <= _plain(other),
    "__gt__": lambda self, other: self._value_ > _plain(other),
    "__ge__": lambda self, other: self._value_ >= _plain(other),
    "__add__": lambda self, other: self._value_ + _plain(other),
    "__radd__": lambda self, other: _plain(other) + self._value_,
    "__sub__": lambda self, other: self._value_ - _plain(other),
    "__rsub__": lambda self, other: _plain(other) - self._value_,
    "__mul__": lambda self, other: self._value_ * _plain(other),
    "__rmul__": lambda self, other: _plain(other) * self._value_,
    "__mod__": lambda self, other: self._value_ % _plain(other),
    "__and__": lambda self, other: self._value_ & _plain(other),
    "__or__": lambda self, other: self._value_ | _plain(other),
    "__format__": lambda self, spec: ("{:" + spec + "}").format(
        self._value_ if isinstance(self, _SHOWN_AS_VALUES) else str(self)
    ),
}


_SHOWN_AS_VALUES = ()


class StrEnum(str, Enum):
    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return name.lower()

    def __str__(self):
        return self._value_


class IntEnum(int, Enum):
    def __str__(self):
        return str(self._value_)


_SHOWN_AS_VALUES = StrEnum, IntEnum


class Flag(Enum):
    @classmethod
    def _missing_(cls, value):
        """A combination of members."""
        if not isinstance(value, int):
            return None
        names = [n for n in cls._member_names_ if cls.__members__[n]._value_ & value == cls.__members__[n]._value_ != 0]
        return cls._made("|".join(names) or None, value)

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return 1 << max([v.bit_length() if hasattr(v, "bit_length") else len(bin(v)) - 2 for v in last_values]) if last_values else 1

    def __or__(self, other):
        return type(self)(self._value_ | _bits(other))

    def __and__(self, other):
        return type(self)(self._value_ & _bits(other))

    def __xor__(self, other):
        return type(self)(self._value_ ^ _bits(other))

    def __invert__(self):
        every = 0
        for name in self._member_names_:
            every |= self.__members__[name]._value_
        return type(self)(every & ~self._value_)

    def __contains__(self, other):
        return other._value_ & self._value_ == other._value_

    def __bool__(self):
        return self._value_ != 0

    def __eq__(self, other):
        return self is other or (type(self) is type(other) and self._value_ == other._value_)

    def __hash__(self):
        return hash(self._value_)

    def __repr__(self):
        return "<" + type(self).__name__ + ("." + self._name_ if self._name_ else "") + ": " + str(self._value_) + ">"


class IntFlag(Flag):
    def __int__(self):
        return self._value_

    def __eq__(self, other):
        return self._value_ == _bits(other)

    def __hash__(self):
        return hash(self._value_)


def _bits(value):
    return value._value_ if isinstance(value, Flag) else value


class EnumMeta:
    pass


EnumType = EnumMeta
