"""Names for annotations, which are not evaluated: anything with a name and parameters in brackets."""

TYPE_CHECKING = False


class _Form:
    def __getitem__(self, _):
        return self

    def __call__(self, *_, **__):
        return self


def __getattr__(name):
    return _form


_form = _Form()


def cast(_, value):
    return value


def overload(function):
    return function
