"""Names and the patterns of shells."""


def fnmatch(name, pat):
    return fnmatchcase(name, pat)


def filter(names, pat):
    return [name for name in names if fnmatchcase(name, pat)]


def fnmatchcase(name, pat):
    """Whether a whole name matches a pattern with *, ? and sets in brackets. It takes no more steps than the product of
    both lengths."""
    n = p = 0
    star = mark = -1  # of the last star, and where what it stands for ends
    while n < len(name):
        after = _after_one(name[n], pat, p) if p < len(pat) and pat[p] != "*" else -1
        if after >= 0:
            n, p = n + 1, after
        elif p < len(pat) and pat[p] == "*":
            star, mark = p, n
            p += 1
        elif star >= 0:
            mark += 1
            n, p = mark, star + 1
        else:
            return False
    return not pat[p:].strip("*")


def _after_one(c, pat, p):
    """Where the pattern goes on behind the place that c matches; -1 when it does not."""
    if pat[p] == "?":
        return p + 1
    end = pat.find("]", p + 2 + (pat[p + 1 : p + 2] == "!")) if pat[p] == "[" else -1
    if end < 0:
        return p + 1 if c == pat[p] else -1
    inside = pat[p + 1 : end]
    wanted = not inside.startswith("!")
    return end + 1 if _in_set(c, inside if wanted else inside[1:]) == wanted else -1


def _in_set(c, chars):
    i = 0
    while i < len(chars):
        if i + 2 < len(chars) and chars[i + 1] == "-":
            if chars[i] <= c <= chars[i + 2]:
                return True
            i += 3
            continue
        if c == chars[i]:
            return True
        i += 1
    return False


def translate(pat):
    """A regular expression that matches what the pattern does."""
    result, p = "", 0
    while p < len(pat):
        c = pat[p]
        end = pat.find("]", p + 2 + (pat[p + 1 : p + 2] == "!")) if c == "[" else -1
        if end >= 0:
            inside = pat[p + 1 : end].replace("\\", "\\\\")
            result += "[^" + inside[1:] + "]" if inside.startswith("!") else "[" + inside + "]"
            p = end
        elif c == "*":
            result += ".*"
        elif c == "?":
            result += "."
        else:
            result += "\\" + c if c in ".^$+{}()|[]\\" else c
        p += 1
    return "(?s:" + result + ")\\Z"
