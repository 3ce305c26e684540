package legacy_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
)

func TestNewRequiresItsParts(t *testing.T) {
	_, err := legacy.New(legacy.Config{Idle: -1})
	for _, want := range []string{"Core", "Source", "Name", "Version", "negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %s", err, want)
		}
	}
}

func TestHandshake(t *testing.T) {
	const server = `"serverInfo":{"name":"fake","title":"A fake","version":"1.2.3"}`
	for _, revision := range revisions {
		for _, c := range []struct {
			name, capabilities string
			change             []func(*legacy.Config)
		}{
			{"resources", `"capabilities":{"completions":{},"resources":{"listChanged":true,"subscribe":true}}`, nil},
			{
				"tools", `"capabilities":{"completions":{},"resources":{"listChanged":true,"subscribe":true},"tools":{}}`,
				[]func(*legacy.Config){withTools},
			},
		} {
			t.Run(revision+" "+c.name, func(t *testing.T) {
				w := connectStdio(t, newFront(t, newFake(), c.change...))
				got := string(last(t, w, initializeLine(revision)).Result)
				want := `{` + c.capabilities + `,"instructions":"read on","protocolVersion":"` + revision + `",` + server + `}`
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestCloseCancelsRequests(t *testing.T) {
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			f := newFake()
			front := newFront(t, f)
			if over == "stdio" {
				dialStdio(t, front, "2025-06-18").notify(t, read(1, "test://slow"))
			} else {
				w := dialHTTP(t, front, "2025-06-18")
				r := w.request(t, t.Context(), http.MethodPost, read(1, "test://slow"))
				go func() {
					if res, err := http.DefaultClient.Do(r); err == nil {
						res.Body.Close()
					}
				}()
			}
			within(t, "the read", f.started)
			if err := front.Close(); err != nil {
				t.Error(err)
			}
			if cause := within(t, "the end of the read", f.stopped); !strings.Contains(cause.Error(), "shutting down") {
				t.Errorf("got cause %v", cause)
			}
		})
	}
}

func TestTheSDKLogsNothingBelowWarn(t *testing.T) {
	var out bytes.Buffer
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(lockedWriter{&mu, &out}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w := dialHTTP(t, newFront(t, newFake(), func(c *legacy.Config) { c.Logger = log }), "2025-06-18")
	last(t, w, read(1, "test://text"))
	mu.Lock()
	defer mu.Unlock()
	if out.Len() > 0 {
		t.Errorf("got log lines:\n%s", out.String())
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
