"""Listings, page by page."""

import _wasmres_frame as frame

from .entry import ENTRY, put_entry
from .failure import Invalid
from .out import FLUSH_AT, flush_unless_enough

_USUAL = 500  # entries, when the host leaves it to the guest


class Page:
    """One page. cursor is what next was given, empty at the start."""

    def __init__(self, fields):
        self.cursor = fields.get("cursor", "")
        self.limit = fields.get("limit", 0) or _USUAL
        self._count = 0
        self._full = False
        self._next = None

    @property
    def full(self):
        return self._full or self._count >= self.limit

    def add(self, entry):
        """Puts a resource on the page, a dict or a URI. Returns False when the page is full, and the resource not on it."""
        if self.full:
            return False
        if isinstance(entry, str):
            entry = {"uri": entry}
        for name in entry:
            if name not in ENTRY:
                raise TypeError("an entry has no " + name + ", but " + ", ".join(ENTRY))
        if put_entry(1, entry) >= FLUSH_AT:
            self._full = flush_unless_enough()
        self._count += 1
        return True

    def next(self, cursor):
        """Sets the cursor that leads to the next page. Without it this page is the last one."""
        self._next = str(cursor)

    def take(self, answer):
        """Takes what a function returned or yields, from where the cursor says."""
        start = self._start()
        i = 0
        for entry in answer or ():
            if i >= start and not self.add(entry):
                self.next(i)
                return
            i += 1
        if start > i:
            raise Invalid("unknown cursor")

    def _start(self):
        if self.cursor == "":
            return 0
        if len(self.cursor) < 10 and self.cursor.isdigit():
            return int(self.cursor)
        raise Invalid("unknown cursor")

    def finish(self, route):
        frame.text(4, self._next)
        frame.number(10, route.ttl)
        frame.number(11, route.scope)
