package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServers has each server answer each workload for a moment. What a server answers is compared with the fixtures
// before; a failure of any is a line that is missing.
func TestServers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "samples")
	o := options{rounds: 1, duration: 50 * time.Millisecond, warmup: 5 * time.Millisecond, quick: true}
	b, err := buildAll(o)
	if err != nil {
		t.Fatal(err)
	}
	book, err := openBook(out)
	if err != nil {
		t.Fatal(err)
	}
	bench := &bench{options: o, env: b.env(), book: book}
	servers := choose(targets(b), "wasmres*,go-sdk,mcp-go,fixed", func(t target) string { return t.name })
	all := choose(workloads(), "small-http,small-modern,text-stdio,blob-http,list-http,start-stdio", func(w workload) string { return w.name })
	for _, w := range all {
		bench.run(w, servers)
	}
	book.close()
	for _, w := range all {
		for _, s := range servers {
			if _, ok := book.median(w, s, w.metrics[0]); ok != s.serves(w) {
				t.Errorf("%s of %s was measured: got %v", w.name, s.name, ok)
			}
		}
	}
	var text strings.Builder
	report{"", servers, all, book}.print(&text)
	if rows := strings.Count(text.String(), "\n| "); rows < len(all) {
		t.Errorf("got a table of %d rows:\n%s", rows, &text)
	}
	checkSamples(t, out)
}

func checkSamples(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var s struct{ Workload, Target string }
		if err := json.Unmarshal([]byte(line), &s); err != nil || s.Workload == "" || s.Target == "" {
			t.Errorf("got %s, %v", line, err)
		}
	}
}
