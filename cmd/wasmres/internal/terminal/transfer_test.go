package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// drawing is a transfer whose clock the test moves, on a terminal or not.
func drawing(out *bytes.Buffer, onTerminal bool) (t *Transfer, wait func(time.Duration)) {
	now := time.Unix(1000, 0)
	t = &Transfer{what: "pulling r.io/notes:1", out: out, line: NewProgress(out), style: Style{Width: 80, ASCII: true}, now: func() time.Time { return now }}
	if onTerminal {
		t.line = Progress{out}
	}
	return t, func(d time.Duration) { now = now.Add(d) }
}

func TestATransferIsABarOnATerminal(t *testing.T) {
	var out bytes.Buffer
	transfer, wait := drawing(&out, true)
	transfer.Update(0, 4<<20)
	wait(50 * time.Millisecond)
	transfer.Update(1, 4<<20) // too early to draw again
	wait(950 * time.Millisecond)
	transfer.Update(1<<20, 4<<20)
	transfer.End()
	want := "\r\x1b[Kpulling r.io/notes:1  ######..................  1.0 MiB of 4.0 MiB  1.0 MiB/s  3s left\r\x1b[K"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestATransferIsAFewLinesInALog(t *testing.T) {
	var out bytes.Buffer
	transfer, wait := drawing(&out, false)
	for range 25 {
		transfer.Update(1<<20, 0)
		wait(time.Second)
	}
	transfer.End()
	if lines := strings.Count(out.String(), "\n"); lines != 2 || strings.Contains(out.String(), "#") {
		t.Errorf("got %d lines: %q", lines, out.String())
	}
}

// Wrong figures of a registry do no harm.
func TestATransferOfMoreThanAnnounced(t *testing.T) {
	var out bytes.Buffer
	transfer, wait := drawing(&out, true)
	for _, done := range []int64{-5, 0, 10, 1 << 62} {
		transfer.Update(done, 7)
		wait(time.Second)
	}
	transfer.End()
	if !strings.Contains(out.String(), "########################") {
		t.Errorf("got %q", out.String())
	}
}
