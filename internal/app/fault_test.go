package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/session"
	"github.com/wasmres/wasmres/runtime"
)

// openFaults opens a module whose faults are told to the function.
func openFaults(t *testing.T, cfg Config, file string) *App {
	t.Helper()
	cfg.File, cfg.CacheDir = file, guesttest.CacheDir(t)
	if cfg.Limits == (runtime.Limits{}) {
		cfg.Limits = runtime.Limits{Timeout: time.Minute, Fuel: 1 << 24, HostCalls: 1000}
	}
	a, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// replayText runs a recorded session as its author does, and returns the report.
func replayText(t *testing.T, file string, isolation runtime.Isolation, text []byte) *session.Report {
	t.Helper()
	s, err := session.Parse("crash.txtar", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	host := session.Replay(s)
	a := openFaults(t, Config{Isolation: isolation, ReplaceServices: host.Services, Clock: s.Clock(), Limits: s.Limits}, file)
	report, err := session.Run(t.Context(), session.Config{
		Session: s, Host: host, Source: a.Provider().Source(), Replay: a.Provider().Replay, Digest: a.Provider().Info().Digest,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// What a host has recorded of a call that failed ends in the same way elsewhere: in a worker process and without one.
func TestRecordedFaultsComeAgain(t *testing.T) {
	const file = "../../testdata/wasm/faults.wasm"
	for _, recorded := range []runtime.Isolation{runtime.IsolateProcess, runtime.IsolateNone} {
		t.Run(recorded.String(), func(t *testing.T) {
			var faults []*Fault
			a := openFaults(t, Config{Isolation: recorded, Record: true, Fault: func(f *Fault) { faults = append(faults, f) }}, file)
			want := map[string]abi.Code{
				"x:a": abi.CodeTrap, "x:b": abi.CodeProtocol, "x:c": abi.CodeProtocol, "x:d": abi.CodeProtocol, "x:e": abi.CodeFuel,
				"x:f": abi.CodeMemory, "x:g": abi.CodeInvalidURI, "x:m": abi.CodeExit, "x:p": abi.CodeProtocol,
				"x:q": abi.CodeStack, "x:r": abi.CodeProtocol,
			}
			for uri, code := range want {
				faults = nil
				_, err := a.Provider().Read(t.Context(), uri)
				if err == nil || len(faults) != 1 {
					t.Fatalf("%s: got %v, and %d faults", uri, err, len(faults))
				}
				f := faults[0]
				text, inexact := f.Session("A crash.\n\n")
				if f.Code != code || f.Op != abi.OpRead || inexact != "" || f.Session == nil {
					t.Errorf("%s: got %v, %q, want %v", uri, f.Code, inexact, code)
				}
				isolation := runtime.IsolateProcess
				if recorded == runtime.IsolateProcess {
					isolation = runtime.IsolateNone
				}
				report := replayText(t, file, isolation, text)
				if len(report.Failures) > 0 || len(report.Crashes) != 1 || report.Crashes[0].Fuel != f.Fuel || report.Crashes[0].Code != f.Code.String() {
					t.Errorf("%s: got %+v of\n%s", uri, report, text)
				}
			}
		})
	}
}

// A session whose crash is another one is told so.
func TestAFaultThatDoesNotComeAgainIsAFailure(t *testing.T) {
	const file = "../../testdata/wasm/faults.wasm"
	var fault *Fault
	a := openFaults(t, Config{Record: true, Fault: func(f *Fault) { fault = f }}, file)
	if _, err := a.Provider().Read(t.Context(), "x:a"); abi.CodeOf(err) != abi.CodeTrap {
		t.Fatal(err)
	}
	text, _ := fault.Session("")
	s, err := session.Parse("crash.txtar", text)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(c *session.Crash){
		"the fuel is":                               func(c *session.Crash) { c.Fuel++ },
		"the code is trap, and was exit":            func(c *session.Crash) { c.Code = abi.CodeExit },
		"the functions are serve, and were unknown": func(c *session.Crash) { c.Stack = nil },
		"did not crash":                             func(c *session.Crash) { c.Request.URI = "x:o" },
		"the module is another one":                 func(c *session.Crash) { c.Fuel, c.Digest = 1, "sha256:00" },
	} {
		changed := *s.Steps[0].Crash
		change(&changed)
		other := *s
		other.Steps = []*session.Step{{Request: s.Steps[0].Request, Crash: &changed}}
		report := replayText(t, file, runtime.IsolateProcess, other.Format())
		if len(report.Failures) != 1 || !strings.Contains(report.Failures[0].Problem, want) {
			t.Errorf("got %+v, want %q", report, want)
		}
	}
}

// A call that ends at its deadline is stopped at the same place elsewhere.
func TestARecordedDeadlineIsAtTheSamePlace(t *testing.T) {
	if testing.Short() {
		t.Skip("it keeps a processor busy until a deadline")
	}
	const file = "../../testdata/wasm/faults.wasm"
	var fault *Fault
	a := openFaults(t, Config{
		Record: true, Fault: func(f *Fault) { fault = f }, Limits: runtime.Limits{Timeout: 2 * time.Second}, // the provider has to start by then
	}, file)
	if _, err := a.Provider().Read(t.Context(), "x:e"); abi.CodeOf(err) != abi.CodeDeadline {
		t.Fatal(err)
	}
	text, inexact := fault.Session("")
	report := replayText(t, file, runtime.IsolateProcess, text)
	if inexact != "" || len(report.Failures) > 0 || report.Crashes[0].Fuel != fault.Fuel || fault.Fuel == 0 {
		t.Errorf("got %q, %+v of\n%s", inexact, report, text)
	}
}

// Without Record and Fault nothing is kept.
func TestFaultsWithoutARecordHaveNoSession(t *testing.T) {
	var fault *Fault
	a := openFaults(t, Config{Fault: func(f *Fault) { fault = f }}, "../../testdata/wasm/faults.wasm")
	_, err := a.Provider().Read(t.Context(), "x:a")
	if abi.CodeOf(err) != abi.CodeTrap || fault == nil || fault.Session != nil || fault.Fuel == 0 || fault.Memory != 2<<16 || fault.URI != "x:a" ||
		!slices.Equal(fault.Stack, []abi.Frame{{Function: 8, Name: "serve"}}) {
		t.Errorf("got %v, %+v", err, fault)
	}
}
