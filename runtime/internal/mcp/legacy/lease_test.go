package legacy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
)

// Answers in the SDK count as in flight until they are written, in batches too, and are refused when there is no room.
func TestAnswersOfSessionsCount(t *testing.T) {
	src := mcptest.New()
	src.Text("test://large", strings.Repeat("large ", 20_000))
	for name, dial := range map[string]func(*testing.T, *legacy.Front, string) wire{
		"stdio": func(t *testing.T, f *legacy.Front, r string) wire { return dialStdio(t, f, r) },
		"http":  func(t *testing.T, f *legacy.Front, r string) wire { return dialHTTP(t, f, r) },
	} {
		t.Run(name, func(t *testing.T) {
			budget := inflight.New(inflight.Min)
			core, err := mcp.New(mcp.Config{Source: src, Name: "test", Version: "1", InFlight: budget})
			if err != nil {
				t.Fatal(err)
			}
			front, err := legacy.New(legacy.Config{Core: core, Source: src, Name: "test", Version: "1", InFlight: budget})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { front.Close() })
			w := dial(t, front, "2025-03-26")
			defer w.close()
			if m := last(t, w, read(1, "test://large")); code(m) != 0 || len(m.Result) < 100_000 {
				t.Fatalf("got %+v", m)
			}
			eventually(t, "the end of the counting", func() bool { return budget.Used() == 0 })
			var batch []string
			for i := range 20 {
				batch = append(batch, read(i, "test://large"))
			}
			got := answersOf(t, w, "["+strings.Join(batch, ",")+"]")
			if got[0] == 0 || got[429] == 0 || got[0]+got[429] != 20 {
				t.Errorf("got %v, want some results, and errors for what is more than the budget", got)
			}
			eventually(t, "the end of the counting", func() bool { return budget.Used() == 0 })
			budget.Force(budget.Most())
			if m := last(t, w, read(2, "test://large")); code(m) != 429 || !strings.Contains(string(m.Error.Data), "busy") {
				t.Errorf("got %.200s, %+v", m.Result, m.Error)
			}
			budget.Release(budget.Most())
			if m := last(t, w, read(3, "test://large")); code(m) != 0 || budget.Used() > inflight.Min {
				t.Errorf("got %v, %d used", m.Error, budget.Used())
			}
		})
	}
}

// answersOf counts the answers to a batch by their error codes.
func answersOf(t *testing.T, w wire, batch string) map[int]int {
	t.Helper()
	var all []message
	switch w := w.(type) {
	case *stdioWire:
		w.notify(t, batch)
		if err := json.Unmarshal([]byte(w.next(t)), &all); err != nil {
			t.Fatal(err)
		}
	case *httpWire:
		_, all = w.post(t, batch)
	default:
		t.Fatalf("a wire of type %T", w)
	}
	got := make(map[int]int)
	for _, m := range all {
		got[code(m)]++
	}
	return got
}
