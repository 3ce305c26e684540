package check_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/guesttest"
	runtime "github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
)

// checked checks a provider as it runs.
func checked(t *testing.T, binary []byte, services capability.Services, limits runtime.Limits) *check.Report {
	t.Helper()
	h, err := runtime.NewHost(runtime.HostConfig{Isolation: runtime.IsolateNone, CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.Load(t.Context(), binary, &runtime.Options{Limits: limits, Capabilities: []capability.Capability{services}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), h.Close()); err != nil {
			t.Error(err)
		}
	})
	report, err := check.Run(t.Context(), check.Config{Source: p.Source(), Manifest: p.Manifest(), Samples: 10})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestExamplesAreClean(t *testing.T) {
	for _, example := range []string{"hello", "project", "fixtures"} {
		t.Run(example, func(t *testing.T) {
			report := checked(t, guesttest.Binary(t, example), folder(t), runtime.Limits{})
			if len(report.Findings) > 0 || report.Read == 0 {
				t.Errorf("got %+v", report)
			}
		})
	}
}

// folder grants a project to read.
func folder(t *testing.T) capability.Services {
	t.Helper()
	_, granted := guesttest.Folder(t, map[string]string{
		"README.md": "# Read", "LICENSE": "MIT", "src/main.go": "package main\n", "a.json": "{}",
	})
	return granted
}

// TestFaultsOnPurposeAreFound finds all that the example everything does wrong when it is asked to, and nothing else.
func TestFaultsOnPurposeAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for time limits")
	}
	report := checked(t, guesttest.Binary(t, "everything"), nil, runtime.Limits{Timeout: 2 * time.Second, Fuel: 300_000_000, Memory: 32 << 20})
	want := map[string]string{
		"trap": "trap", "memory": "memory", "internal": "internal", "exit": "exit", "loop": "fuel", "slow": "deadline", "baduri": "invalid_uri", "badtext": "",
	}
	for _, f := range report.Findings {
		kind, ok := strings.CutPrefix(f.Where, "test://fault/")
		if code, known := want[kind]; !ok || !known || code != f.Code {
			t.Errorf("got %+v", f)
		}
		delete(want, kind)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// TestCrashingGuest has a guest that crashes whatever it is asked.
func TestCrashingGuest(t *testing.T) {
	puppet := &guesttest.Puppet{
		Manifest: abi.Manifest{Name: "crash", Ops: 1<<abi.OpList | 1<<abi.OpRead, URIPrefixes: []string{"x://"}},
		Next:     func(context.Context, abi.Op, int, *abi.Request) guesttest.Step { return guesttest.Trap() },
	}
	report := checked(t, puppet.Binary(t), puppet.Services(), runtime.Limits{})
	rules := map[string]string{}
	for _, f := range report.Findings {
		rules[f.Rule] = f.Code
	}
	for _, rule := range []string{"list-fails", "not-found"} {
		if rules[rule] != "trap" {
			t.Errorf("%s: got code %q, want trap, in %+v", rule, rules[rule], report.Findings)
		}
	}
}
