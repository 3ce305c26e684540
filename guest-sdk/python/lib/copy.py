"""Copies of objects."""


class Error(Exception):
    pass


_ATOMS = (int, float, complex, bool, str, bytes, type, range, type(None), type(...), type(len), type(lambda: 0))


def copy(x):
    if isinstance(x, _ATOMS) or type(x) in (tuple, frozenset):
        return x
    if hasattr(x, "__copy__"):
        return x.__copy__()
    if type(x) in (list, dict, set, bytearray):
        return type(x)(x)
    return _instance(x, x.__dict__)


def deepcopy(x, memo=None):
    if isinstance(x, _ATOMS):
        return x
    memo = {} if memo is None else memo
    if id(x) in memo:
        return memo[id(x)]
    if hasattr(x, "__deepcopy__"):
        made = x.__deepcopy__(memo)
    elif type(x) is list:
        made = memo[id(x)] = []
        for item in x:
            made.append(deepcopy(item, memo))
    elif type(x) is dict:
        made = memo[id(x)] = {}
        for key, value in x.items():
            made[deepcopy(key, memo)] = deepcopy(value, memo)
    elif isinstance(x, (tuple, set, frozenset)):
        items = [deepcopy(item, memo) for item in x]
        made = type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    elif type(x) is bytearray:
        made = bytearray(x)
    elif isinstance(x, (dict, list)):
        made = _container(x, memo)
    else:
        made = _instance(x, None)
        memo[id(x)] = made
        for name, value in x.__dict__.items():
            setattr(made, name, deepcopy(value, memo))
    memo[id(x)] = made
    memo[-id(x)] = x  # it stays alive as long as its number is used
    return made


def _container(x, memo):
    made = x.copy() if isinstance(x, dict) and hasattr(x, "default_factory") else type(x)()
    memo[id(x)] = made
    if isinstance(x, dict):
        for key, value in x.items():
            made[deepcopy(key, memo)] = deepcopy(value, memo)
    else:
        for item in x:
            made.append(deepcopy(item, memo))
    return made


def replace(obj, **changes):
    return obj.__replace__(**changes)


def _instance(x, members):
    made = object.__new__(type(x))
    for name, value in (members or {}).items():
        setattr(made, name, value)
    return made
