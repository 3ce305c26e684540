package terminal

import (
	"fmt"
	"io"

	"github.com/wasmres/wasmres/internal/printable"
)

// A Progress is a line on a terminal that says what the program is doing. Show replaces it, Clear removes it.
type Progress struct{ w io.Writer }

// NewProgress returns a line on w. It shows nothing where [CanRedraw] says no.
func NewProgress(w io.Writer) Progress {
	if !CanRedraw(w) {
		return Progress{io.Discard}
	}
	return Progress{w}
}

// Show replaces the line, cut to the width of the terminal.
func (p Progress) Show(format string, args ...any) {
	p.Clear()
	text := printable.Line(fmt.Sprintf(format, args...))
	if width := Width(p.w); width > 1 {
		text = Clip(text, width-1)
	}
	fmt.Fprint(p.w, text)
}

// Clear removes the line.
func (p Progress) Clear() { fmt.Fprint(p.w, "\r\x1b[K") }
