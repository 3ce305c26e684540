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

// IsTerminal reports whether a stream, as an io.Reader or io.Writer, is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
