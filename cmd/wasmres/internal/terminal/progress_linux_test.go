package terminal

import (
	"fmt"
	"io"
	"testing"
)

// Lines of a log have lines of their own, above the progress.
func TestAbove(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("ACCESSIBLE", "")
	c, user := pseudoterminal(t)
	line, log := NewProgress(c.tty), Above(c.tty)
	fmt.Fprint(log, "before\n")
	line.Show("Loading %s", "a.wasm")
	fmt.Fprint(log, "WARN meanwhile\n")
	line.Clear()
	fmt.Fprint(log, "after\n")

	const want = "before\r\n" +
		"\r\x1b[KLoading a.wasm" +
		"\r\x1b[KWARN meanwhile\r\nLoading a.wasm" +
		"\r\x1b[K" + "after\r\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(user, got); err != nil || string(got) != want {
		t.Errorf("the terminal gets %q, %v; want %q", got, err, want)
	}
}

// What is no terminal gets the lines alone.
func TestAboveAFile(t *testing.T) {
	if w := Above(io.Discard); w != io.Discard {
		t.Errorf("Above(io.Discard) is %T", w)
	}
}
