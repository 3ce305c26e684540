package host_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/host"
)

// lines counts what a logger writes.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) with(word string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, word) {
			n++
		}
	}
	return n
}

// A client without a key can neither open a tenant nor fill the log.
func TestStrangersCannotFillTheLog(t *testing.T) {
	log := &lines{}
	s := serve(t, host.Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
	hello := guesttest.File(t, "hello")
	s.Update(snapshot(with("a", hello), with("b", hello)))
	for range 15 {
		for _, id := range []string{"a", "b"} {
			if status, text := s.read("/t/"+id+"/mcp", "guessed", "hello://about"); status != http.StatusUnauthorized {
				t.Fatalf("got %d %s, want 401", status, text)
			}
		}
	}
	if s.isOpen("a") || s.isOpen("b") {
		t.Error("a stranger has opened a tenant")
	}
	if n := log.with("refused"); n < 1 || n > 7 { // one at once, and one in 10 s
		t.Errorf("30 requests wrote %d lines, want 1:\n%s", n, log.text.String())
	}
}
