package node_test

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/auth"
)

// A key that has expired does not live again when the clock is set back, neither while the server runs nor after a restart.
func TestAnExpiredKeyDoesNotLiveAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first, err := openEmpty(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for name, expires := range map[string]time.Time{"hour": time.Now().Add(time.Hour), "year": time.Now().Add(366 * 24 * time.Hour)} {
		if _, text[name], err = first.Create(t.Context(), "test", admin.KeySpec{Tenant: "acme", Name: name, Roles: []string{"reader"}, Expires: expires}); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	var ahead atomic.Int64 // of the clock
	open := func() *node.Node {
		t.Helper()
		s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
		if err != nil {
			t.Fatal(err)
		}
		n, _, err := node.Open(t.Context(), node.Config{Settings: s, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	check := func(n *node.Node, when string, want ...string) {
		t.Helper()
		var good []string
		for _, name := range []string{"hour", "year"} {
			_, err := n.Authenticator("acme").Authenticate(auth.Credential{Authorization: "Bearer " + text[name], Address: netip.MustParseAddr("192.0.2.1")})
			if err == nil {
				good = append(good, name)
			}
		}
		if !slices.Equal(good, want) {
			t.Errorf("%s, %q are good, want %q", when, good, want)
		}
	}
	n := open()
	check(n, "at first", "hour", "year")
	ahead.Store(int64(2 * time.Hour))
	n.CheckClock()
	check(n, "two hours later", "year")
	ahead.Store(int64(-24 * time.Hour))
	n.CheckClock()
	check(n, "with the clock set back", "year")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = open()
	check(n, "after a restart", "year")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, l := range ledgerOf(t, dir) {
		if l.Action == "clock.step" {
			steps = append(steps, l.Object)
		}
	}
	if len(steps) != 3 || steps[0] != "+7200 s" || steps[1] != "-93600 s" || !strings.HasPrefix(steps[2], "-93") {
		t.Errorf("got the steps %q", steps)
	}
	if err := os.Remove(filepath.Join(dir, "clock")); err != nil { // as an operator does whose clock was wrong
		t.Fatal(err)
	}
	n = open()
	check(n, "without the file", "hour", "year")
	if err := errors.Join(n.Close(), os.WriteFile(filepath.Join(dir, "clock"), []byte("noon\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := openEmpty(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("with a clock that is none: %v", err)
	}
}
