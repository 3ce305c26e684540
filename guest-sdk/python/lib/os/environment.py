"""os.environ: the variables that the operator has granted with --env."""

from wasmres.config import env


class _Environ:
    """Like a dict of which the host does not tell all keys: iteration gives the variables that were read or set."""

    def __init__(self):
        self._set = {}  # by name, None for what was deleted
        self._read = {}

    def get(self, name, default=None):
        if name in self._set:
            value = self._set[name]
        else:
            value = env(name)
            if value is not None:
                self._read[name] = value
        return default if value is None else value

    def __getitem__(self, name):
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __setitem__(self, name, value):
        if not isinstance(value, str):
            raise TypeError("str expected, not " + type(value).__name__)
        self._set[name] = value

    def __delitem__(self, name):
        self[name]
        self._set[name] = None

    def __contains__(self, name):
        return self.get(name) is not None

    def setdefault(self, name, value):
        if name not in self:
            self[name] = value
        return self[name]

    def pop(self, name, *default):
        value = self.get(name)
        if value is None:
            if default:
                return default[0]
            raise KeyError(name)
        self._set[name] = None
        return value

    def update(self, *others, **named):
        for other in others + (named,):
            for name, value in dict(other).items():
                self[name] = value

    def copy(self):
        known = dict(self._read)
        known.update(self._set)
        return {name: value for name, value in known.items() if value is not None}

    def keys(self):
        return self.copy().keys()

    def values(self):
        return self.copy().values()

    def items(self):
        return self.copy().items()

    def __iter__(self):
        return iter(self.copy())

    def __len__(self):
        return len(self.copy())


environ = _Environ()


def getenv(name, default=None):
    return environ.get(name, default)


def putenv(name, value):
    environ[name] = value


def unsetenv(name):
    environ.pop(name, None)
