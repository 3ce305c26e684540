package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	barWidth     = 24 // columns
	redrawEvery  = 100 * time.Millisecond
	logEvery     = 10 * time.Second
	rateSettles  = 500 * time.Millisecond // before that, no rate is shown
	longestShown = 99 * time.Hour
)

// A Transfer shows how many of the bytes of one file have come: by a bar on a terminal, and elsewhere by a line every ten
// seconds. One goroutine at a time calls its methods.
type Transfer struct {
	// fixed at creation
	what  string
	out   io.Writer
	line  Progress
	style Style
	now   func() time.Time

	began, shown time.Time
	first        int64 // bytes that were there when it began
}

// NewTransfer shows the transfer of what, as in "pulling ghcr.io/ada/notes:1".
func NewTransfer(w io.Writer, what string) *Transfer {
	return &Transfer{what: what, out: w, line: NewProgress(w), style: NewStyle(w), now: time.Now}
}

// Update says that done of total bytes are there. A total of 0 is unknown.
func (t *Transfer) Update(done, total int64) {
	now := t.now()
	if t.began.IsZero() {
		t.began, t.first = now, done
		t.shown = now // a short transfer shows nothing
	}
	every := logEvery
	if t.drawn() {
		every = redrawEvery
	}
	if now.Sub(t.shown) < every {
		return
	}
	t.shown = now
	text := t.text(done, total, now.Sub(t.began))
	if t.drawn() {
		t.line.Show("%s", text)
		return
	}
	fmt.Fprintln(t.out, text)
}

// drawn reports whether the transfer is a bar on a terminal.
func (t *Transfer) drawn() bool { return t.line.w != io.Discard }

// End removes the bar.
func (t *Transfer) End() {
	if t.drawn() {
		t.line.Clear()
	}
}

// text is "pulling NAME  ████░░  3.1 MiB of 5.8 MiB  12.0 MiB/s  2s left".
func (t *Transfer) text(done, total int64, took time.Duration) string {
	parts := []string{t.what}
	size := Size(uint64(max(done, 0)))
	if total > 0 {
		if t.drawn() {
			parts = append(parts, t.bar(done, total))
		}
		size += " of " + Size(uint64(total))
	}
	parts = append(parts, size)
	if took < rateSettles || done <= t.first {
		return strings.Join(parts, "  ")
	}
	rate := float64(done-t.first) / took.Seconds()
	parts = append(parts, Size(uint64(rate))+"/s")
	if total > done {
		left := min(time.Duration(float64(total-done)/rate*float64(time.Second)), longestShown)
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	return strings.Join(parts, "  ")
}

func (t *Transfer) bar(done, total int64) string {
	full := int(min(max(done, 0), total) * barWidth / total)
	return strings.Repeat(t.style.Either("█", "#"), full) + strings.Repeat(t.style.Either("░", "."), barWidth-full)
}
