package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Width returns the columns of the terminal w; 0 if w is no terminal.
func Width(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Height returns the lines of the terminal w; 0 if w is no terminal.
func Height(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	_, height, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return height
}

// CanRedraw reports whether w is a terminal on which a program may replace what it has drawn. It may not where TERM is dumb,
// and where ACCESSIBLE is set, as screen readers read each change.
func CanRedraw(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("TERM") != "dumb" && os.Getenv("ACCESSIBLE") == ""
}

// IsStyled reports whether w is a terminal that shows colours, bold and underlined text, and NO_COLOR is not set.
func IsStyled(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
}

// IsTerminal reports whether a stream, as an io.Reader or io.Writer, is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
