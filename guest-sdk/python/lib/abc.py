"""Abstract classes: one that inherits from ABC and has abstract methods, beside properties, is not instantiated."""


def abstractmethod(function):
    function.__isabstractmethod__ = True
    return function


class ABC:
    @classmethod
    def __init_subclass__(cls, **_):
        names = []
        for base in cls.__bases__:
            names += [name for name in getattr(base, "__abstractmethods__", ()) if name not in cls.__dict__]
        names += [name for name, value in cls.__dict__.items() if _is_abstract(value)]
        cls.__abstractmethods__ = sorted(names)
        if names and "__new__" not in cls.__dict__:
            cls.__new__ = staticmethod(_refuse)
        elif "__new__" not in cls.__dict__ and getattr(cls, "__new__", None) is _refuse:
            cls.__new__ = staticmethod(_make)


def _is_abstract(value):
    return getattr(value, "__isabstractmethod__", False) is True


def _refuse(cls, *_, **__):
    names = cls.__abstractmethods__
    raise TypeError("Can't instantiate abstract class %s with abstract method%s %s" % (
        cls.__name__, "s" if len(names) > 1 else "", ", ".join(names)))


def _make(cls, *_, **__):
    return object.__new__(cls)


ABCMeta = type
abstractproperty = property
abstractclassmethod, abstractstaticmethod = classmethod, staticmethod


def get_cache_token():
    return 0
