package protocol_test

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// polled makes a connection from which this process only reads, and its other end.
func polled(t *testing.T) (ours, theirs *protocol.Conn) {
	t.Helper()
	ours, file, err := protocol.PairPolled()
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err = protocol.Open(file, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

func TestAPolledConnectionReadsMessages(t *testing.T) {
	ours, theirs := polled(t)
	go func() {
		for range 3 {
			theirs.PutMessage(&protocol.Log{Level: slog.LevelInfo, Message: "a report"})
			_ = theirs.Flush()
			time.Sleep(time.Millisecond) // the reader waits
		}
		theirs.Close()
	}()
	for range 3 {
		if kind, payload, err := ours.Next(); kind != protocol.KindLog || len(payload) == 0 || err != nil {
			t.Fatalf("got %v, %q, %v", kind, payload, err)
		}
	}
	if _, _, err := ours.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v after the end, want EOF", err)
	}
}

func TestClosingAPolledConnectionEndsReading(t *testing.T) {
	for name, end := range map[string]func(c *protocol.Conn){
		"closed":   func(c *protocol.Conn) { c.Close() },
		"shutdown": func(c *protocol.Conn) { c.Shutdown() },
	} {
		t.Run(name, func(t *testing.T) {
			ours, _ := polled(t)
			time.AfterFunc(5*time.Millisecond, func() { end(ours) })
			if _, _, err := ours.Next(); !errors.Is(err, protocol.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
	}
}

func TestAPolledConnectionTakesNoThread(t *testing.T) {
	const conns = 64
	before := threads(t)
	for range conns {
		ours, _ := polled(t)
		go func() { _, _, _ = ours.Next() }()
	}
	time.Sleep(50 * time.Millisecond) // all read by now, or as good as all
	if after := threads(t); after > before+conns/2 {
		t.Errorf("%d connections took %d threads", conns, after-before)
	}
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}
