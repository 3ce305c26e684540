"""Structures over several lines."""


def pformat(object, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    return _text(object, 0, indent, width, sort_dicts)


def pprint(object, stream=None, **options):
    print(pformat(object, **options), file=stream)


pp = pprint


def _text(value, column, indent, width, sort_dicts):
    flat = _flat(value, sort_dicts)
    if len(flat) + column <= width or not isinstance(value, (dict, list, tuple)) or not value:
        return flat
    open_, close = ("{", "}") if isinstance(value, dict) else ("[", "]") if isinstance(value, list) else ("(", ")")
    inner = column + indent
    if isinstance(value, dict):
        parts = []
        for key, item in _items(value, sort_dicts):
            name = repr(key) + ": "
            parts.append(name + _text(item, inner + len(name), indent, width, sort_dicts))
    else:
        parts = [_text(item, inner, indent, width, sort_dicts) for item in value]
    return open_ + " " * (indent - 1) + (",\n" + " " * inner).join(parts) + close


def _flat(value, sort_dicts):
    if type(value) is dict:
        return "{" + ", ".join([repr(k) + ": " + _flat(v, sort_dicts) for k, v in _items(value, sort_dicts)]) + "}"
    if type(value) is list:
        return "[" + ", ".join([_flat(v, sort_dicts) for v in value]) + "]"
    return repr(value)


def _items(value, sort_dicts):
    items = list(value.items())
    if sort_dicts:
        try:
            items.sort(key=lambda pair: pair[0])
        except TypeError:
            items.sort(key=lambda pair: (str(type(pair[0])), str(pair[0])))
    return items


def saferepr(object):
    return _flat(object, True)
