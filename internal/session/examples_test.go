package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/session"
)

// TestExamples replays what is recorded of the examples, which has nothing of this machine in it.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/wasm/*/tests/*.txtar")
	if err != nil || len(files) < 3 {
		t.Fatalf("got %d sessions, %v", len(files), err)
	}
	for _, file := range files {
		example := filepath.Base(filepath.Dir(filepath.Dir(file)))
		t.Run(example+"/"+filepath.Base(file), func(t *testing.T) {
			s, err := session.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(s.Format())); diff != "" {
				t.Errorf("the file is not as it would be written; file -, written +:\n%s", diff)
			}
			host := session.Replay(s)
			p := open(t, guesttest.Binary(t, example), s, host, nil)
			report, err := session.Run(t.Context(), session.Config{Session: s, Host: host, Source: p})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Failures {
				t.Errorf("%s:%d: %s: %s\n%s", file, f.Line, f.Step, f.Problem, f.Diff)
			}
			if report.Steps != len(s.Steps) || report.Steps == 0 {
				t.Errorf("got %d steps of %d", report.Steps, len(s.Steps))
			}
		})
	}
}
