package node_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/tenant"
)

// Operators see in what engines differ, and nothing of the call without the tenant's consent. A client that makes engines differ again and
// again does not fill the ledger.
func TestADifferenceOfEnginesIsReported(t *testing.T) {
	file, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	c := serveCrashing(t, fmt.Sprintf("  faults: {module: %q}\n", file), "")
	id := tenant.ProviderID{Tenant: "acme", Provider: "faults"}
	for _, digest := range []string{"sha256:1", "sha256:1", "sha256:2", "sha256:1"} {
		c.node.Differed(id, &app.Difference{
			Fault: app.Fault{Digest: digest, Op: abi.OpRead, URI: "x:o"}, In: "the fuel is 2, and was 1", First: "ok: \"fine\"", Second: "ok: \"fine\"",
		}, false)
	}
	all := c.crashes(t)
	if len(all) != 2 {
		t.Fatalf("got %+v, want a report of each module", all)
	}
	for _, r := range all {
		if want := map[string]uint64{"sha256:1": 3, "sha256:2": 1}[r.Digest]; r.Count != want || r.Code != "engines_differ" || r.Reason != "the fuel is 2, and was 1" || r.URI != "" || r.Session != 0 {
			t.Errorf("got %+v, want %d without URI and session", r, want)
		}
		if _, err := c.client.CrashSession(t.Context(), r.ID); err == nil {
			t.Error("there is a session")
		}
	}
	if err := c.node.Close(); err != nil {
		t.Fatal(err)
	}
	entries := map[string]int{}
	for _, l := range ledgerOf(t, c.data) {
		if l.Action == "engines.differ" {
			entries[l.After]++
			if strings.Contains(l.Outcome, "fine") {
				t.Errorf("the ledger has contents: %s", l.Outcome)
			}
		}
	}
	if len(entries) != 2 || entries["sha256:1"] != 1 || entries["sha256:2"] != 1 {
		t.Errorf("the ledger has the entries %v, want one of each module", entries)
	}
}
