package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/project"
)

func TestAnImageHasTheNameOfItsServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	if err := project.Create(dir, project.C, "1"); err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"notes", "io.github.ada/notes\nRUN evil", `io.github.ada/"`, "a/" + strings.Repeat("b", 200), ""} {
		if err := project.AddImage(dir, server); err == nil {
			t.Errorf("%q was accepted", server)
		}
	}
	if err := project.AddImage(dir, "io.github.ada/notes"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`io.modelcontextprotocol.server.name="io.github.ada/notes"`, "COPY notes.wasm /provider.wasm"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the Dockerfile has no %s:\n%s", want, text)
		}
	}
	if err := project.AddImage(dir, "io.github.ada/other"); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a Dockerfile was replaced: %v", err)
	}
}
