"""What JSON has in place of values that have no form there, as pydantic writes them for FastMCP: a str, where there is no better."""


def plain(value):
    if hasattr(value, "_value_"):  # of an enumeration
        return plain(value._value_)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {_key(key): plain(element) for key, element in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(element) for element in value]
    if isinstance(value, (bytes, bytearray)):
        return value.decode()
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if hasattr(value, "isoformat"):
        text = value.isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    return str(value)


def _key(key):
    return key if isinstance(key, str) else plain(key)
