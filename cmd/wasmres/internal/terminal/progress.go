package terminal

import (
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/internal/printable"
)

// A progress is a line on a terminal that says what is being done, until it is cleared.
type progress struct{ w io.Writer }

// NewProgress shows nothing where nobody looks.
func NewProgress(w io.Writer) progress {
	if !IsTerminal(w) || os.Getenv("TERM") == "dumb" {
		return progress{io.Discard}
	}
	return progress{w}
}

func (p progress) Show(format string, args ...any) {
	p.Clear()
	text := printable.Line(fmt.Sprintf(format, args...))
	if width := Width(p.w); width > 1 {
		text = Clip(text, width-1)
	}
	fmt.Fprint(p.w, text)
}

func (p progress) Clear() { fmt.Fprint(p.w, "\r\x1b[K") }
