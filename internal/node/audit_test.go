package node_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
)

// The ledger has each read of a tenant whose plan says so, and none of others.
func TestReadsAreRecordedWherePlansSaySo(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two servers")
	}
	file, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	for plan, want := range map[string]int{"plan: recorded\n": 3, "": 0} {
		c := serveCrashing(t, "  faults: {module: \""+file+"\"}\n", plan)
		for _, uri := range []string{"x:a", "x:z", "y:none"} {
			c.read(t, uri)
		}
		found := func() []ledger.Line {
			return slices.DeleteFunc(ledgerOf(t, c.data), func(l ledger.Line) bool { return l.Action != "resource.read" })
		}
		lines := found()
		for until := time.Now().Add(time.Minute); len(lines) < want && time.Now().Before(until); lines = found() {
			time.Sleep(time.Millisecond) // they are written after they were answered
		}
		if len(lines) != want {
			t.Fatalf("%q: got %+v", plan, lines)
		}
		if want == 0 {
			continue
		}
		if l := lines[0]; l.Tenant != "acme" || l.Object != "x:a" || l.Actor != "client anonymous" || l.Via != "mcp" || l.Outcome != "trap" || !strings.Contains(l.After, `"from":"127.0.0.1"`) {
			t.Errorf("got %+v", l)
		}
	}
}
