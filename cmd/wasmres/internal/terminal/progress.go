package terminal

import (
	"fmt"
	"io"
	"sync"

	"github.com/wasmres/wasmres/internal/printable"
)

// A Progress is a line on a terminal that says what the program is doing. Show replaces it, Clear removes it. It is safe for
// concurrent use. A process shows one at a time, as it has one terminal.
type Progress struct{ w io.Writer }

// drawn is the line that the process shows; empty if it shows none. Writers of [Above] look at it.
var drawn struct {
	mu   sync.Mutex
	text string // guarded by mu
}

// erase removes the line of the cursor.
const erase = "\r\x1b[K"

// NewProgress returns a line on w. It shows nothing where [CanRedraw] says no.
func NewProgress(w io.Writer) Progress {
	if !CanRedraw(w) {
		return Progress{io.Discard}
	}
	return Progress{w}
}

// Show replaces the line, cut to the width of the terminal.
func (p Progress) Show(format string, args ...any) {
	if p.w == io.Discard {
		return
	}
	text := printable.Line(fmt.Sprintf(format, args...))
	if width := Width(p.w); width > 1 {
		text = Clip(text, width-1)
	}
	drawn.mu.Lock()
	defer drawn.mu.Unlock()
	drawn.text = text
	fmt.Fprint(p.w, erase+text)
}

// Clear removes the line, if there is one.
func (p Progress) Clear() {
	drawn.mu.Lock()
	defer drawn.mu.Unlock()
	if p.w == io.Discard || drawn.text == "" {
		return
	}
	drawn.text = ""
	fmt.Fprint(p.w, erase)
}

// Above returns a writer on w for whole lines, as of a log: they appear above the [Progress] that the process shows.
func Above(w io.Writer) io.Writer {
	if !CanRedraw(w) {
		return w
	}
	return above{w}
}

type above struct{ w io.Writer }

func (a above) Write(lines []byte) (int, error) {
	drawn.mu.Lock()
	defer drawn.mu.Unlock()
	if drawn.text == "" {
		return a.w.Write(lines)
	}
	if _, err := fmt.Fprintf(a.w, "%s%s%s", erase, lines, drawn.text); err != nil {
		return 0, err
	}
	return len(lines), nil
}
