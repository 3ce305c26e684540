package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/crashes"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
)

// crashKinds are the ways in which the providers of guesttest.Crashing crash.
var crashKinds = map[project.Language][]string{
	project.Go:             {"panic", "nil", "index", "divide", "exit", "stack", "memory", "calls", "loop", "slow"},
	project.Rust:           {"panic", "unwrap", "index", "divide", "unreachable", "stack", "memory", "calls", "loop", "slow"},
	project.C:              {"trap", "pointer", "divide", "stack", "function", "memory", "calls", "loop", "slow", "trap"},
	project.AssemblyScript: {"unreachable", "assert", "index", "divide", "stack", "memory", "calls", "loop", "slow", "divide"},
	project.JavaScript:     {"memory", "objects", "calls", "pattern", "sort", "loop", "slow", "loop", "pattern", "sort"},
}

// seedFault has one call of a hosted provider crash, and returns the report with its session. A provider that is slow ends at
// its deadline, all others long before. A clock runs on between faults, and random numbers differ.
func seedFault(tb testing.TB, l project.Language, file, kind string, n int) (crashes.Report, []byte) {
	tb.Helper()
	limits := "{memory: 48Mi, fuel: 60000000, timeout: 2m}"
	switch {
	case kind == "calls" && l == project.C: // whose calls take hardly any fuel
		limits = "{memory: 48Mi, fuel: 6000000, timeout: 2m}"
	case kind == "slow":
		limits = "{memory: 48Mi, fuel: 100000000000, timeout: 200ms}"
	}
	c := serveCrashing(tb, fmt.Sprintf(`  %s:
    module: %q
    record_crashes: true
    permissions:
      kv: {}
      config: {plain: "%d"}
      resources: {limits: %s}
`, l, file, n*n, limits), "plan: large\n")
	if got := c.read(tb, fmt.Sprintf("crash://%s/%d", kind, n)); strings.HasPrefix(got, "200") {
		tb.Fatalf("%s, %s %d: got %s", l, kind, n, got)
	}
	all := c.crashes(tb)
	if len(all) != 1 {
		tb.Fatalf("%s, %s %d: got %+v", l, kind, n, all)
	}
	text, err := c.client.CrashSession(tb.Context(), all[0].ID)
	if err != nil {
		tb.Fatal(err)
	}
	return all[0], text
}

// runsAgain reports whether a session ends as the report says: with the same code, fuel and functions.
func runsAgain(tb testing.TB, file string, r crashes.Report, text []byte) bool {
	tb.Helper()
	report := replayCrash(tb, file, text)
	if len(report.Failures) == 0 && len(report.Crashes) == 1 && report.Crashes[0].Inexact == "" &&
		report.Crashes[0].Fuel == r.Fuel && report.Crashes[0].Code == r.Code {
		return true
	}
	tb.Errorf("%s, %s of %+v: got %+v", r.Provider, r.Code, r, report)
	if dir := os.Getenv("WASMRES_CRASHES_DIR"); dir != "" {
		_ = os.WriteFile(filepath.Join(dir, r.Provider+"-"+r.ID+".txtar"), text, 0o600)
	}
	return false
}

// Crashes of providers that use what a host grants, the time and random numbers run again exactly.
func TestCrashesRunAgainInTwoLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts guests with their names many times")
	}
	for _, l := range []project.Language{project.Go, project.C} {
		t.Run(string(l), func(t *testing.T) {
			file := guesttest.Crashing(t, l)
			for i, kind := range []string{crashKinds[l][2], "calls", "slow"} {
				r, text := seedFault(t, l, file, kind, i)
				runsAgain(t, file, r, text)
			}
		})
	}
}

// WASMRES_CRASHES=20 seeds as many faults in each of five languages.
func TestSeededFaultsRunAgain(t *testing.T) {
	var each int
	if _, err := fmt.Sscan(os.Getenv("WASMRES_CRASHES"), &each); err != nil {
		t.Skip("set WASMRES_CRASHES to the number of faults in each language")
	}
	same, all, codes := 0, 0, map[string]int{}
	for _, l := range []project.Language{project.Go, project.Rust, project.C, project.AssemblyScript, project.JavaScript} {
		file := guesttest.Crashing(t, l)
		for i := range each {
			kinds := crashKinds[l]
			t.Run(fmt.Sprintf("%s/%d", l, i), func(t *testing.T) {
				r, text := seedFault(t, l, file, kinds[i%len(kinds)], 17*i+1)
				codes[r.Code]++
				if all++; runsAgain(t, file, r, text) {
					same++
				}
			})
		}
	}
	t.Logf("%d of %d crashes ran again with the same code, fuel and functions: %v", same, all, codes)
}
