package node_test

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
)

// An operator starts the process of a provider ahead of its calls, and stops it; the next call starts it again.
func TestProvidersAreWokenAndStopped(t *testing.T) {
	file, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	c := serveCrashing(t, fmt.Sprintf("  faults: {module: %q}\n  empty: {}\n", file), "")
	is := func(state string, processes int) bool {
		t.Helper()
		shown, err := c.client.Tenant(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(shown.Modules, func(p admin.Provider) bool {
			return p.Name == "faults" && p.State == state && p.Processes == processes
		})
	}
	if !is("cold", 0) {
		t.Error("a provider that nothing has called is not cold")
	}
	for range 2 { // the second finds it awake
		if err := c.client.WakeProvider(t.Context(), "acme", "faults"); err != nil {
			t.Fatal(err)
		}
		if !is("live", 1) {
			t.Error("a provider that was woken is not live")
		}
	}
	for _, want := range []int{1, 0} {
		if got, err := c.client.StopProvider(t.Context(), "acme", "faults"); err != nil || got.Processes != want {
			t.Errorf("a stop: got %+v, %v, want %d", got, err, want)
		}
	}
	for until := time.Now().Add(time.Minute); !is("cold", 0); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("a provider that was stopped has a process")
		}
	}
	if got := c.read(t, "x:o"); !strings.HasPrefix(got, "200") {
		t.Errorf("after a stop a call gets %s", got)
	}
	var p *admin.Problem
	if err := c.client.WakeProvider(t.Context(), "acme", "empty"); !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable || !strings.Contains(p.Detail, "no version of the provider is active") {
		t.Errorf("a provider without a version: %v", err)
	}
	if err := c.client.WakeProvider(t.Context(), "acme", "fault"); !errors.As(err, &p) || p.Code != admin.CodeNoProvider || !strings.Contains(p.Detail, "faults") {
		t.Errorf("a provider that is not there: %v", err)
	}
	var did []string
	for _, l := range ledgerOf(t, c.data) {
		if strings.HasPrefix(l.Action, "provider.") {
			did = append(did, l.Action)
		}
	}
	if want := []string{"provider.wake", "provider.wake", "provider.stop", "provider.stop", "provider.wake", "provider.wake"}; !slices.Equal(did, want) {
		t.Errorf("the ledger has %q, want %q", did, want)
	}
}
