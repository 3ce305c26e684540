package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/internal/atomicfile"
)

func TestWriteReplacesAFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for _, c := range []struct {
		text string
		mode os.FileMode
	}{{"first", 0o600}, {"second", 0o640}, {"", 0o600}} {
		if err := atomicfile.Write(name, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != c.text {
			t.Errorf("got %q, %v, want %q", got, err, c.text)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != c.mode {
			t.Errorf("got %v, %v, want mode %v", info.Mode(), err, c.mode)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want the file alone", entries, err)
	}
}

func TestWriteThatFailsLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(name, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(name, []byte("text"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want the folder alone", entries, err)
	}
}
