package main

import (
	"context"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime"
)

func TestMain(m *testing.M) {
	runtime.Main()
	m.Run()
}

func Example_show() {
	ctx := context.Background()
	p, err := runtime.Open(ctx, "../../runtime/testdata/greeting.wasm", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	if err := show(ctx, p, "greeting://World"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// greeting 1.0.0 runs: process
	// resource greeting://about
	// template greeting://{name}
	// template note://{file}
	// Hello, World!
}

// TestThePageShowsWhatRuns holds the Go code of docs/embedding.md to this program and the examples of package runtime.
func TestThePageShowsWhatRuns(t *testing.T) {
	page := read(t, "../../docs/embedding.md")
	runs := read(t, "main.go") + read(t, "../../runtime/example_test.go")
	blocks := strings.Split(page, "```go\n")[1:]
	if len(blocks) < 3 {
		t.Fatalf("the page has %d blocks of Go", len(blocks))
	}
	for _, block := range blocks {
		if code, _, _ := strings.Cut(block, "```"); !strings.Contains(runs, code) {
			t.Errorf("no example has this code:\n%s", code)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
