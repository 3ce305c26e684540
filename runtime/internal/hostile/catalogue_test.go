package hostile_test

import (
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
)

func TestEveryRowOfTheAttackTableHasACase(t *testing.T) {
	count := map[hostile.Row]int{}
	for _, c := range hostile.Cases() {
		count[c.Row]++
		if !slices.Contains(hostile.Rows(), c.Row) {
			t.Errorf("case %s: row %q is not in the table", c.Name, c.Row)
		}
	}
	all := 0
	for _, row := range hostile.Rows() {
		if count[row] == 0 {
			t.Errorf("row %s has no case", row)
		}
		t.Logf("%-12s %3d", row, count[row])
		all += count[row]
	}
	t.Logf("%-12s %3d", "in all", all)
}

// codesToCome are names of codes that the corpus expects and that this version of package abi need not have.
var codesToCome = []string{"fuel", "stack", "host_calls"}

func TestCasesAreWellFormed(t *testing.T) {
	var known []string
	for code := range abi.Code(100) {
		known = append(known, code.String())
	}
	seen := map[string]bool{}
	for _, c := range append(hostile.Cases(), hostile.Generated(true)...) {
		if c.Name == "" || c.Why == "" || seen[c.Name] {
			t.Errorf("case %q: it has no reason, or its name is not its own", c.Name)
		}
		seen[c.Name] = true
		for _, code := range c.Want {
			if !slices.Contains(known, code) && !slices.Contains(codesToCome, code) {
				t.Errorf("case %s wants %q, which is no code", c.Name, code)
			}
		}
	}
}

func TestEveryActIsMadeInEveryPhase(t *testing.T) {
	count := map[hostile.Phase]int{}
	cases := hostile.Generated(false)
	for _, c := range cases {
		count[hostile.PhaseOf(c)]++
	}
	for _, phase := range hostile.Phases() {
		if count[phase] != len(cases)/len(hostile.Phases()) {
			t.Errorf("%s: got %d of %d cases", phase, count[phase], len(cases))
		}
	}
	if len(cases) < 300 {
		t.Errorf("got %d cases, want 300 at least", len(cases))
	}
}
