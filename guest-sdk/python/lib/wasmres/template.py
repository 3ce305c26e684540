"""The variables of a URI template (RFC 6570)."""


def variables_of(template):
    """A list of pairs: the name of a variable, and whether it is exploded, as in {/path*}."""
    found = []
    at = template.find("{")
    while at >= 0:
        end = template.find("}", at)
        if end < 0:
            raise ValueError(template + ": a brace is not closed")
        for spec in template[at + 1 : end].lstrip("+#./;?&").split(","):
            exploded = spec.endswith("*")
            found.append(((spec[:-1] if exploded else spec).split(":")[0], exploded))
        at = template.find("{", end)
    return found
