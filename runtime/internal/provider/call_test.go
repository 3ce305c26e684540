package provider_test

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

func openEngine(t testing.TB) engine.Engine {
	t.Helper()
	e, err := enginetest.Kind().Open(engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func readModule(t testing.TB, name string) []byte {
	t.Helper()
	binary, err := os.ReadFile("../../../testdata/wasm/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// openBinary opens a module until the end of the test; where cfg has no runner, in this process. Where cfg has no time limit, calls
// may take as long as on a busy machine.
func openBinary(tb testing.TB, cfg provider.Config, binary []byte) *provider.Provider {
	tb.Helper()
	cfg.Limits.Timeout = cmp.Or(cfg.Limits.Timeout, patience)
	if cfg.Runner == nil {
		cfg.Runner = pool.InProcess{Engine: openEngine(tb)}
	}
	p, err := provider.Open(tb.Context(), cfg, binary)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

func load(t testing.TB, cfg provider.Config, name string) *provider.Provider {
	t.Helper()
	return openBinary(t, cfg, readModule(t, name))
}

// contents records the contents of a read.
type contents struct {
	heads []abi.Content
	body  []byte
}

func (r *contents) Content(c *abi.Content) error { r.heads = append(r.heads, *c); return nil }
func (r *contents) Body(p []byte) error          { r.body = append(r.body, p...); return nil }
func (r *contents) Progress(abi.Progress)        {}

func readURI(t *testing.T, m *provider.Provider, uri string) (string, error) {
	t.Helper()
	var got contents
	_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: uri}, &got)
	return string(got.body), err
}

// A syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestEveryFaultHasItsCodeAndTheNextCallWorks(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		tests := []struct {
			name, uri string
			want      abi.Code
			message   string
		}{
			{"trap", "x:a", abi.CodeTrap, "the provider crashed"},
			{"emit out of range", "x:b", abi.CodeProtocol, "pointer out of range"},
			{"malformed frame", "x:c", abi.CodeProtocol, "malformed frame"},
			{"body before content", "x:d", abi.CodeProtocol, "body without a content"},
			{"endless loop", "x:e", abi.CodeDeadline, "longer than 3s"},
			{"grows without end", "x:f", abi.CodeMemory, "more than 1 MiB"},
			{"control character in a URI", "x:g", abi.CodeInvalidURI, "not allowed"},
			{"status only the host may state", "x:i", abi.CodeInternal, ""},
			{"not found in its own words", "x:j", abi.CodeNotFound, "nothing here"},
			{"more bytes than the limit", "x:l", abi.CodeTooLarge, "more than 1000000 bytes"},
			{"declares more bytes than the limit", "x:t", abi.CodeTooLarge, "more than 1000000 bytes"},
			{"exit", "x:m", abi.CodeExit, "exited"},
			{"take out of range", "x:p", abi.CodeProtocol, "pointer out of range"},
			{"read without contents", "x:r", abi.CodeProtocol, "without contents"},
			{"service that is not granted", "x:u", abi.CodeDenied, ""},
		}
		m := load(t, provider.Config{Runner: run, Limits: limits.Limits{Memory: 1 << 20, Output: 1e6}}, "faults.wasm")
		hasty := load(t, provider.Config{Runner: run, Limits: limits.Limits{Memory: 1 << 20, Timeout: 3 * time.Second, Output: 1e6}}, "faults.wasm")
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				m := m
				if tt.want == abi.CodeDeadline {
					if testing.Short() {
						t.Skip("it keeps a processor busy until the deadline")
					}
					m = hasty
				}
				_, err := readURI(t, m, tt.uri)
				if got := abi.CodeOf(err); got != tt.want || !strings.Contains(err.Error(), tt.message) {
					t.Errorf("got %v %q, want %v %q", got, err, tt.want, tt.message)
				}
				if body, err := readURI(t, m, "x:o"); body != "fine" || err != nil {
					t.Errorf("next call: got %q, %v", body, err)
				}
			})
		}
	})
}

func TestEndlessRecursionEndsAtTheStackLimit(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Limits: limits.Limits{Timeout: 20 * time.Second}}, "faults.wasm")
		if _, err := readURI(t, m, "x:q"); abi.CodeOf(err) != abi.CodeStack {
			t.Errorf("got %v, want stack", err)
		}
	})
}

func TestEachCallStartsFresh(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run}, "faults.wasm")
		for range 5 {
			if body, err := readURI(t, m, "x:s"); body != "1" || err != nil {
				t.Fatalf("got %q, %v, want 1: an earlier call was seen", body, err)
			}
		}
	})
}

func TestStandardOutputAndLogGoToTheLogWithinTheirBudget(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		var out syncBuffer
		logger := slog.New(slog.NewTextHandler(&out, nil))
		m := load(t, provider.Config{Runner: logging(t, run, logger), Limits: limits.Limits{Log: 10_000}, Logger: logger}, "faults.wasm")
		for _, uri := range []string{"x:n", "x:k"} {
			if body, err := readURI(t, m, uri); body != "fine" || err != nil {
				t.Fatalf("read %s: got %q, %v", uri, body, err)
			}
		}
		eventually(t, func() bool { return strings.Contains(out.String(), "code=log_limit") }) // which belongs to no call
		text := out.String()
		if !strings.Contains(text, `stream=stdout text="{\"jsonrpc\"`) {
			t.Errorf("the log does not hold what was written to standard output:\n%.300s", text)
		}
		if len(text) > 40_000 || strings.Count(text, "code=log_limit") != 1 {
			t.Errorf("got %d bytes of log with %d notes of the limit, want few and 1", len(text), strings.Count(text, "code=log_limit"))
		}
	})
}

func TestCancellationStopsTheGuest(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Limits: limits.Limits{Timeout: time.Minute}}, "faults.wasm")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err := m.Call(ctx, abi.OpRead, &abi.Request{URI: "x:e"}, &contents{})
		if got := abi.CodeOf(err); got != abi.CodeCancelled {
			t.Errorf("got %v %v, want cancelled", got, err)
		}
	})
}

func TestMoreCallsThanSlotsAreRefusedInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it keeps a processor busy until a deadline")
	}
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Limits: limits.Limits{Timeout: time.Second / 2, Calls: 1}}, "faults.wasm")
		var wg sync.WaitGroup
		codes := make(chan abi.Code, 8)
		for range cap(codes) {
			wg.Go(func() {
				_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:e"}, &contents{})
				codes <- abi.CodeOf(err)
			})
		}
		wg.Wait()
		close(codes)
		busy := 0
		for c := range codes {
			if c == abi.CodeBusy {
				busy++
			} else if c != abi.CodeDeadline {
				t.Errorf("got %v, want busy or deadline", c)
			}
		}
		if busy == 0 {
			t.Error("no call was refused as busy")
		}
	})
}

func TestConcurrentCallsNeverMeet(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run}, "faults.wasm")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 25 {
					var got contents
					if _, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:s"}, &got); err != nil || string(got.body) != "1" {
						t.Errorf("got %q, %v, want 1", got.body, err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestIncompatibleModulesAreRefusedWithTheExpectation(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		tests := []struct {
			name, file string
			code       abi.Code
			message    string
		}{
			{"no export", "no-export.wasm", abi.CodeIncompatible, "does not export wasmres_v1, expected [i32 i32] -> [i32]"},
			{"wrong signature", "wrong-export.wasm", abi.CodeIncompatible, "exports wasmres_v1 as [i32] -> [i64], expected [i32 i32] -> [i32]"},
			{"wrong initialise", "wrong-initialize.wasm", abi.CodeIncompatible, "exports _initialize as [] -> [i32], expected [] -> []"},
			{"reference type at the boundary", "reference-export.wasm", abi.CodeIncompatible, "as [externref i32] -> [i32]; references do not cross the boundary"},
			{"unknown import", "unknown-import.wasm", abi.CodeIncompatible, `imports "wasmres_v1"."teleport"`},
			{"wrong import", "wrong-import.wasm", abi.CodeIncompatible, "imports wasmres_v1.emit as [i64] -> [i32], expected [i32 i32] -> [i32]"},
			{"command", "command.wasm", abi.CodeIncompatible, "build a reactor"},
			{"no memory", "no-memory.wasm", abi.CodeIncompatible, `no memory named "memory"`},
			{"too much memory", "big-memory.wasm", abi.CodeMemory, "starts with 125 MiB of memory, the limit is 64 MiB; --memory raises it"},
			{"future minor version", "future-minor.wasm", abi.CodeIncompatible, "use a newer wasmres"},
			{"initialise traps", "initialize-trap.wasm", abi.CodeTrap, "crashed"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := provider.Open(t.Context(), provider.Config{Runner: run}, readModule(t, tt.file))
				if err == nil {
					t.Fatal("the module was accepted")
				}
				if got := abi.CodeOf(err); got != tt.code || !strings.Contains(err.Error(), tt.message) {
					t.Errorf("got %v %q, want %v %q", got, err, tt.code, tt.message)
				}
			})
		}
	})
}

func TestMalformedModulesAreRefused(t *testing.T) {
	e := openEngine(t)
	for _, binary := range [][]byte{nil, []byte("hello"), []byte("\x00asm\x0d\x00\x01\x00"), []byte("\x00asm\x01\x00\x00\x00\x01\xff\xff\xff\xff\x0f")} {
		if _, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: e}}, binary); abi.CodeOf(err) != abi.CodeModule {
			t.Errorf("%q: got %v, want a module error", binary, err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	m := load(b, provider.Config{}, "faults.wasm")
	req := &abi.Request{URI: "x:o"}
	b.ReportAllocs()
	for b.Loop() {
		var got contents
		if _, err := m.Call(b.Context(), abi.OpRead, req, &got); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTheOutputLimitIsNotThatOfTheManifest starts a provider whose manifest is larger than any answer may be.
func TestTheOutputLimitIsNotThatOfTheManifest(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		m := load(t, provider.Config{Runner: run, Limits: limits.Limits{Output: 8}}, "faults.wasm")
		if size := len(m.Manifest().Append(nil)); size <= 8 {
			t.Fatalf("the manifest has %d bytes, too few to tell", size)
		}
		if _, err := readURI(t, m, "x:o"); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("got %v for a read, want too_large", err)
		}
	})
}
