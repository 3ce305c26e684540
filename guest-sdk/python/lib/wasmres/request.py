"""What a handler is asked."""

import ujson as json

import _wasmres_frame as frame
import _wasmres_request as asked
import _wasmres_service as service

from . import abi
from .config import config
from .failure import Invalid
from .log import log
from .out import flush


class Request:
    """A parameter of a handler with this annotation, or called request, ctx or context, gets it."""

    def __init__(self, fields, variables=()):
        """fields is a dict, or what encodes it: few handlers need more than the variables that they get as arguments."""
        self._encoded = fields
        self._variables = variables

    def __getattr__(self, name):
        """Decodes the request when something of it is asked for first."""
        if name not in ("_fields", "uri", "vars"):
            raise AttributeError("'" + type(self).__name__ + "' object has no attribute '" + name + "'")
        fields = self._encoded
        if not isinstance(fields, dict):
            fields = asked.fields(fields)
        self._fields = fields
        self.uri = fields.get("uri", "")
        self.vars = fields.get("vars", {})
        for variable, exploded in self._variables:
            value = self.vars.get(variable)
            if exploded and isinstance(value, str):
                self.vars[variable] = [value]
        return getattr(self, name)

    @property
    def range(self):
        """Offset and length, in bytes, of the part that is wanted, if the route has ranges; None for the whole. The
        length 0 means all the rest."""
        offset, length = self._fields.get("range_offset", 0), self._fields.get("range_length", 0)
        return (offset, length) if offset or length else None

    @property
    def if_none_match(self):
        """The etag that the client has, or None."""
        return self._fields.get("if_none_match")

    @property
    def max_bytes(self):
        """How many bytes the answer may have, or None."""
        return self._fields.get("max_bytes")

    @property
    def meta(self):
        """The request's _meta, or None."""
        text = self._fields.get("meta")
        return None if text is None else json.loads(text)

    @property
    def principal(self):
        """A dict with subject, tenant, scopes and claims of the client; None where it did not have to authenticate."""
        found = self._fields.get("principal")
        if found is None:
            return None
        claims = found.get("claims")
        return {
            "subject": found.get("subject", ""),
            "tenant": found.get("tenant", ""),
            "scopes": found["scopes"],
            "claims": None if claims is None else json.loads(claims),
        }

    def int(self, name, least=None, most=None):
        """A variable as a whole number within bounds; otherwise the request fails as invalid."""
        return whole_number(name, self.vars.get(name), least, most)

    def config(self, key, default=None):
        return config(key, default)

    def progress(self, done, total=None, message=None):
        """Tells the client how far a read is."""
        frame.begin(15)
        frame.double(1, done)
        if total:
            frame.double(2, total)
        frame.text(3, message)
        frame.end()
        flush()

    def time_left(self):
        """Seconds until the host ends the call."""
        return service.info(abi.INFO_DEADLINE) / 1e9

    def debug(self, *values):
        log.debug(*values)

    def info(self, *values):
        log.info(*values)

    def warning(self, *values):
        log.warning(*values)

    def error(self, *values):
        log.error(*values)

    report_progress = progress


def whole_number(name, text, least=None, most=None):
    """The int that a variable stands for."""
    digits = text[1:] if isinstance(text, str) and text[:1] in ("-", "+") else text
    n = int(text) if isinstance(digits, str) and 0 < len(digits) < 20 and digits.isdigit() else None
    if n is None or (least is not None and n < least) or (most is not None and n > most):
        bounds = "" if least is None else " from " + str(least)
        bounds += "" if most is None else " to " + str(most)
        raise Invalid(name + " is not a whole number" + bounds)
    return n
