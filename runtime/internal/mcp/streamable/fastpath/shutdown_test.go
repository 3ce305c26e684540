package fastpath_test

import (
	"context"
	"crypto/tls"
	"errors"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/fastpath"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/https"
)

// A slowRouter closes when its requests have ended.
type slowRouter struct {
	hostRouter
	ended chan struct{}
}

func (r *slowRouter) Close() error {
	<-r.ended
	return nil
}

// A router that waits for a request does not keep the request from being cut off.
func TestShutdownDoesNotWaitForTheRouterForEver(t *testing.T) {
	router := &slowRouter{ended: make(chan struct{})}
	defer close(router.ended)
	plain, err := fastpath.NewServer(router, fastpath.Config{})
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := https.NewServer(router, https.Config{TLS: &tls.Config{}})
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for name, server := range map[string]interface{ Shutdown(context.Context) error }{"HTTP": plain, "HTTPS": encrypted} {
		if err := server.Shutdown(over); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want that the time is over", name, err)
		}
	}
}
