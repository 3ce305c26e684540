"""What a read has given."""

import json


class Content:
    """One content: text is a str or None, blob is bytes or None. not_modified says that the client has this etag."""

    def __init__(self, fields):
        get = dict(fields).get
        self.uri = get(1, "")
        self.mime_type = get(2, "")
        text, blob = get(3), get(4)
        self.text = text.decode() if isinstance(text, bytes) else text
        self.blob = blob.encode() if isinstance(blob, str) else blob
        self.kind = get(5)
        self.size = get(6)
        self.etag = get(7)
        self.last_modified = get(8)
        self.meta = json.loads(get(9)) if get(9) else None
        self.not_modified = bool(get(10))
        self.range_total = get(11)
        self.parts = []  # of a body

    def finish(self):
        """Takes the body, as text or bytes."""
        if self.kind is None or self.text is not None or self.blob is not None:
            return
        data = b"".join([p.encode() if isinstance(p, str) else p for p in self.parts])
        if self.kind == 1:
            self.text = data.decode()
        elif self.kind == 2:
            self.blob = data

    def cut(self, start, length):
        """Cuts what the provider has answered whole to the range that was asked for."""
        data = self.text.encode() if self.blob is None else self.blob
        self.range_total = len(data)
        data = data[start : start + length if length else len(data)]
        self.text, self.blob = (data.decode(), None) if self.blob is None else (None, data)

    def __repr__(self):
        return f"Content({self.uri!r}, {self.mime_type!r}, {self.text if self.blob is None else self.blob!r})"


class Answer:
    """All contents, for how long in seconds and by whom they may be cached, and the progress that was told: tuples of done,
    total and message."""

    def __init__(self, contents, ttl, public, progress):
        self.contents = contents
        self.ttl = ttl
        self.public = public
        self.progress = progress

    @property
    def content(self):
        """The one content."""
        if len(self.contents) != 1:
            raise ValueError(f"the answer has {len(self.contents)} contents, not one")
        return self.contents[0]

    @property
    def text(self):
        """The one text."""
        if self.content.text is None:
            raise ValueError(f"{self.content.uri} is no text: see blob")
        return self.content.text

    @property
    def blob(self):
        """The bytes of the one content that is no text."""
        if self.content.blob is None:
            raise ValueError(f"{self.content.uri} is a text: see text")
        return self.content.blob

    @property
    def mime_type(self):
        return self.content.mime_type

    def json(self):
        return json.loads(self.text)

    def __repr__(self):
        return f"Answer({self.contents!r})"
