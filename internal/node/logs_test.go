package node_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// A written lets a test wait for a text.
type written struct {
	want string
	got  strings.Builder
	seen chan struct{} // closed when want was written
}

func (w *written) Write(p []byte) (int, error) {
	before := strings.Contains(w.got.String(), w.want)
	w.got.Write(p)
	if !before && strings.Contains(w.got.String(), w.want) {
		close(w.seen)
	}
	return len(p), nil
}

// What a hosted provider logs reaches operators who follow it, escaped.
func TestLinesOfAHostedProviderCanBeFollowed(t *testing.T) {
	file, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	c := serveCrashing(t, fmt.Sprintf("  faults: {module: %q}\n", file), "")
	ctx, cancel := context.WithCancel(t.Context())
	w := &written{want: `faults: {"jsonrpc":"forged"}`, seen: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- c.client.Logs(ctx, "acme", "faults", true, w) }()
	c.read(t, "x:n")
	<-w.seen
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	var all strings.Builder
	if err := c.client.Logs(t.Context(), "acme", "", false, &all); err != nil || !strings.Contains(all.String(), w.want) {
		t.Errorf("got %q, %v", all.String(), err)
	}
	if err := c.client.Logs(t.Context(), "other", "", false, io.Discard); err == nil || !strings.Contains(err.Error(), `no tenant "other"`) {
		t.Error(err)
	}
}
