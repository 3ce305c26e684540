"""Parameters of statements by name."""

_QUOTES = "'\"`"


def positional(sql, parameters):
    """A statement in which :name, @name and $name have become ?, and the values for them. KeyError for a name that parameters
    lack."""
    out, values, i = [], [], 0
    while i < len(sql):
        end = _past_literal(sql, i)
        if end > i:
            out.append(sql[i:end])
            i = end
            continue
        c = sql[i]
        end = i + 1
        if c in ":@$" and sql[i - 1 : i] != ":":
            while end < len(sql) and (sql[end].isalpha() or sql[end].isdigit() or sql[end] == "_"):
                end += 1
        if end > i + 1:
            values.append(parameters[sql[i + 1 : end]])
            out.append("?")
        else:
            out.append(c)
        i = end
    return "".join(out), values


def _past_literal(sql, i):
    """Where a text in quotes or a comment ends that begins at i; i when none does."""
    c = sql[i]
    if c in _QUOTES or c == "[":
        end = sql.find("]" if c == "[" else c, i + 1)
    elif sql[i : i + 2] == "--":
        end = sql.find("\n", i)
    elif sql[i : i + 2] == "/*":
        end = sql.find("*/", i + 2)
        end = end + 1 if end >= 0 else end
    else:
        return i
    return len(sql) if end < 0 else end + 1
