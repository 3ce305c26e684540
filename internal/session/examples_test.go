package session_test

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
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
			if testing.Short() && example != "hello" {
				t.Skip("each example is compiled")
			}
			replay(t, guesttest.Binary(t, example), file)
		})
	}
}

// TestRecordedFilesKeepTheirBytes reads every recorded session of this repository and writes it again.
func TestRecordedFilesKeepTheirBytes(t *testing.T) {
	files := []string{sharedSession}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case filepath.Base(filepath.Dir(path)) == "tests" && strings.Contains(d.Name(), ".txtar"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) < 19 {
		t.Fatalf("got %d sessions, %v", len(files), err)
	}
	for _, file := range files {
		s, err := session.Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), string(s.Format())); diff != "" {
			t.Errorf("%s is written with other bytes; file -, written +:\n%s", file, diff)
		}
	}
}

// TestTheManualHasSessions reads those of docs/testing.md, which have the form that is written.
func TestTheManualHasSessions(t *testing.T) {
	manual, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for block := range indented(string(manual)) {
		if !strings.Contains(block, "\n-- ") {
			continue
		}
		found++
		s, err := session.Parse("manual", []byte(block))
		if err != nil {
			t.Errorf("%v in\n%s", err, block)
			continue
		}
		if diff := cmp.Diff(block, string(s.Format())); diff != "" {
			t.Errorf("manual -, written +:\n%s", diff)
		}
	}
	if found < 4 {
		t.Errorf("got %d sessions", found)
	}
}

// indented returns the blocks of code of a page, with an empty line before each.
func indented(page string) iter.Seq[string] {
	return func(yield func(string) bool) {
		block := "\n"
		for line := range strings.Lines(page + "end\n") {
			code, ok := strings.CutPrefix(line, "    ")
			switch {
			case ok:
				block += code
			case line == "\n" && block != "\n":
				block += line
			case block != "\n":
				if !yield(strings.TrimRight(block, "\n") + "\n") {
					return
				}
				block = "\n"
			}
		}
	}
}
