//go:build unix

package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/policy"
	runtime "github.com/wasmres/wasmres/runtime"
)

// A secret may wait for the user to type a password. Opening the provider ends with its context all the same.
func TestOpeningEndsWithItsContext(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, grants := range map[string]policy.Policy{
		"secret": {
			Network: []policy.Network{{Host: "example.org"}}, Secrets: []policy.Secret{{Name: "token", File: pipe}},
		},
		"dsn": {SQL: []policy.SQL{{Name: "main", DSNFile: pipe}}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := Open(ctx, Config{
				File: guesttest.File(t, "hello"), Grants: grants, Isolation: runtime.IsolateNone,
				Logger: slog.New(slog.DiscardHandler),
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}
