"""Paragraphs of text."""


def dedent(text):
    """Without the white space that all lines begin with."""
    lines = text.split("\n")
    margin = None
    for i, line in enumerate(lines):
        body = line.lstrip(" \t")
        if not body:
            lines[i] = ""
            continue
        indent = line[: len(line) - len(body)]
        if margin is None:
            margin = indent
        while not indent.startswith(margin):
            margin = margin[:-1]
    if not margin:
        return "\n".join(lines)
    return "\n".join([line[len(margin) :] for line in lines])


def indent(text, prefix, predicate=None):
    wanted = predicate or (lambda line: line.strip())
    return "".join([prefix + line if wanted(line) else line for line in text.splitlines(True)])


def wrap(text, width=70, **options):
    return TextWrapper(width, **options).wrap(text)


def fill(text, width=70, **options):
    return "\n".join(wrap(text, width, **options))


def shorten(text, width, *, placeholder=" [...]", **_):
    words = text.split()
    if len(" ".join(words)) <= width:
        return " ".join(words)
    if len(placeholder.lstrip()) > width:
        raise ValueError("placeholder too large for max width")
    while words and len(" ".join(words)) + len(placeholder) > width:
        words.pop()
    return " ".join(words) + placeholder if words else placeholder.lstrip()


class TextWrapper:
    def __init__(self, width=70, initial_indent="", subsequent_indent="", expand_tabs=True, replace_whitespace=True,
                 fix_sentence_endings=False, break_long_words=True, drop_whitespace=True, break_on_hyphens=True, tabsize=8,
                 *, max_lines=None, placeholder=" [...]"):
        self.width = width
        self.initial_indent, self.subsequent_indent = initial_indent, subsequent_indent
        self.break_long_words = break_long_words
        self.break_on_hyphens = break_on_hyphens
        self.max_lines, self.placeholder = max_lines, placeholder

    def fill(self, text):
        return "\n".join(self.wrap(text))

    def wrap(self, text):
        if self.width <= 0:
            raise ValueError("invalid width " + repr(self.width) + " (must be > 0)")
        lines, line, indent = [], "", self.initial_indent
        pieces = self._pieces(text)
        while pieces:
            piece, glued = pieces.pop(0)
            room = self.width - len(indent)
            joined = piece if not line else line + ("" if glued else " ") + piece
            if len(joined) <= room:
                line = joined
                continue
            if len(piece) > room and self.break_long_words:
                used = len(line) + (0 if glued or not line else 1)
                fits = room - used if line else max(room, 1)
                if fits > 0:
                    line += ("" if glued or not line else " ") + piece[:fits]
                    piece = piece[fits:]
                pieces.insert(0, (piece, True))
            elif line:
                pieces.insert(0, (piece, glued))
            else:
                line = piece
            lines.append(indent + line)
            line, indent = "", self.subsequent_indent
        if line:
            lines.append(indent + line)
        return self._limited(lines)

    def _limited(self, lines):
        if self.max_lines is None or len(lines) <= self.max_lines:
            return lines
        last = lines[self.max_lines - 1]
        while last and len(last) + len(self.placeholder) > self.width:
            last = last.rpartition(" ")[0]
        return lines[: self.max_lines - 1] + [(last + self.placeholder) if last else self.placeholder.lstrip()]

    def _pieces(self, text):
        """Words, each with whether it is glued to the one before, as behind a hyphen."""
        pieces = []
        for word in text.split():
            glued = False
            start = 0
            for i in range(1, len(word) - 1):
                if self.break_on_hyphens and word[i] == "-" and word[i - 1].isalpha() and word[i + 1].isalpha():
                    pieces.append((word[start : i + 1], glued))
                    start, glued = i + 1, True
            pieces.append((word[start:], glued))
        return pieces
