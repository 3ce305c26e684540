package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/internal/session"
)

// sampleDir has servers in the style of FastMCP, each with a session; kitSession is one of the conformance kit's provider
// in Python, and sharedSession one of that provider in each language.
const (
	sampleDir     = "../../testdata/python"
	kitSession    = "../../testdata/wasm/kit-python/tests/kit.txtar"
	sharedSession = "../../testdata/wasm/kit.txtar"
)

// TestPythonSamples replays what is recorded of the servers in the style of FastMCP.
func TestPythonSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("each server is built and compiled")
	}
	sessions, err := filepath.Glob(filepath.Join(sampleDir, "*", "tests", "*.txtar"))
	if err != nil || len(sessions) < 8 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	for _, file := range append(sessions, kitSession) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			replay(t, packed(t, filepath.Dir(filepath.Dir(file)), project.Python), file)
		})
	}
}

// TestKitSession replays what is recorded of the conformance kit's provider in Python with the one in JavaScript, which asks
// the host the same questions and answers the same.
func TestKitSession(t *testing.T) {
	if testing.Short() {
		t.Skip("the provider is built and compiled")
	}
	replay(t, packed(t, "../../testdata/wasm/kit-javascript", project.JavaScript), kitSession)
}

// packed returns the module of the provider in a folder, which is built once for all test processes.
func packed(t *testing.T, dir string, l project.Language) []byte {
	t.Helper()
	module, err := os.ReadFile(guesttest.Packed(t, dir, l))
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// TestKitInAllLanguages replays one session with the conformance kit's providers, which answer the same in each language.
func TestKitInAllLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("the providers are built and compiled")
	}
	for _, l := range []project.Language{
		project.Go, project.Rust, project.C, project.AssemblyScript, project.JavaScript, project.Python,
	} {
		t.Run(string(l), func(t *testing.T) {
			t.Parallel()
			module, err := os.ReadFile(guesttest.Kit(t, l))
			if err != nil {
				t.Fatal(err)
			}
			replay(t, module, sharedSession)
		})
	}
}

// replay compares all answers of a provider with those of a recorded session.
func replay(t *testing.T, binary []byte, file string) {
	t.Helper()
	s, err := session.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	host := session.Replay(s)
	report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: open(t, binary, s, host, nil)})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failures {
		t.Errorf("%s:%d: %s: %s\n%s", file, f.Line, f.Step, f.Problem, f.Diff)
	}
	if report.Steps != len(s.Steps) || report.Steps == 0 {
		t.Errorf("got %d steps of %d", report.Steps, len(s.Steps))
	}
}
