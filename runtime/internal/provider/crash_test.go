package provider_test

import (
	"errors"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// names is a name section for faults.wasm, which imports seven functions and defines two.
const names = "\x01\x11\x02\x07\x07recurse\x08\x05serve"

// named gives a module with a name section.
func named(t *testing.T, module []byte) []byte {
	t.Helper()
	debug, err := wasm.WithCustom(module, "name", []byte(names))
	if err != nil {
		t.Fatal(err)
	}
	return debug
}

func TestACrashSaysWhereTheGuestWas(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		binary := readModule(t, "faults.wasm")
		m := load(t, provider.Config{
			Runner: run, Limits: limits.Limits{Timeout: time.Minute, Fuel: 1 << 30},
			DebugModules: slices.Values([][]byte{named(t, readModule(t, "reset.wasm")), binary, named(t, binary)}),
		}, "faults.wasm")
		for name, c := range map[string]struct {
			uri, reason string
			stack       []string
		}{
			"trap":             {"x:a", "unreachable", []string{"serve"}},
			"work":             {"x:e", "stopped by the host", []string{"serve"}},
			"exit":             {"x:m", "the guest exited with status 0", []string{"serve"}},
			"pointer":          {"x:b", "stopped by the host", []string{"serve"}},
			"recursion":        {"x:q", "stack exhausted", slices.Repeat([]string{"recurse"}, 29)},
			"a failed service": {"x:u", "", nil},
		} {
			t.Run(name, func(t *testing.T) {
				if name == "work" && testing.Short() {
					t.Skip("it keeps a processor busy until the fuel ends")
				}
				_, err := readURI(t, m, c.uri)
				crash := abi.CrashOf(err)
				if crash == nil {
					if c.reason != "" {
						t.Fatalf("got no crash of %v", err)
					}
					return
				}
				var stack []string
				for _, f := range crash.Stack {
					stack = append(stack, f.String())
				}
				if crash.Reason != c.reason || !slices.Equal(stack, c.stack) {
					t.Errorf("got %q in %q, want %q in %q", crash.Reason, stack, c.reason, c.stack)
				}
				if crash.Op != abi.OpRead || crash.URI != c.uri || crash.Fuel == 0 {
					t.Errorf("got %v %s with %d units of fuel", crash.Op, crash.URI, crash.Fuel)
				}
				if strings.Contains(err.Error(), "serve") {
					t.Errorf("what clients may see names a function: %v", err)
				}
			})
		}
	})
}

func TestNamesOfOtherModulesAreIgnored(t *testing.T) {
	other := readModule(t, "reset.wasm")
	for name, symbols := range map[string]iter.Seq[[]byte]{
		"none":         nil,
		"another's":    slices.Values([][]byte{named(t, other)}),
		"no module":    slices.Values([][]byte{nil, []byte("\x00asm\x01\x00\x00\x00\x00\xff")}),
		"without them": slices.Values([][]byte{readModule(t, "faults.wasm")}),
	} {
		t.Run(name, func(t *testing.T) {
			m := load(t, provider.Config{DebugModules: symbols}, "faults.wasm")
			_, err := readURI(t, m, "x:a")
			crash := abi.CrashOf(err)
			if crash == nil || len(crash.Stack) != 1 || crash.Stack[0].String() != "function 8" {
				t.Errorf("got %+v", crash)
			}
		})
	}
}

func TestACrashHasTheLastLines(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		logger := slog.New(slog.NewTextHandler(io.Discard, nil))
		puppet := &guesttest.Puppet{Next: steps(
			guesttest.Log(abi.LogInfo, "one\ntwo"), guesttest.Log(abi.LogWarn, "x").Times(6), guesttest.Log(abi.LogInfo, "last"),
			guesttest.Trap(),
		)}
		puppet.Manifest = abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead}
		m, err := provider.Open(t.Context(), provider.Config{Runner: logging(t, run, logger), Services: puppet.Services(), Logger: logger}, puppet.Binary(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		_, err = readURI(t, m, "x:o")
		want := []string{"two", "x", "x", "x", "x", "x", "x", "last"}
		if crash := abi.CrashOf(err); crash == nil || !slices.Equal(crash.LastLines, want) {
			t.Errorf("got %+v, want %q", crash, want)
		}
	})
}

func TestAGuestThatCrashesWhileItStartsSaysWhere(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		_, err := provider.Open(t.Context(), provider.Config{Runner: run}, readModule(t, "initialize-trap.wasm"))
		crash := abi.CrashOf(err)
		if crash == nil || crash.Reason != "unreachable" || len(crash.Stack) != 1 {
			t.Errorf("got %+v of %v", crash, err)
		}
	})
}

// enough is the error of a sink that wants no more.
var enough error = abi.Errorf(abi.CodeCancelled, "no more is wanted")

type full struct{ contents }

func (*full) Body([]byte) error { return enough }

func TestErrorsOfOtherPackagesAreLeftAsTheyAre(t *testing.T) {
	both(t, func(t *testing.T, run guest.Runner) {
		puppet := &guesttest.Puppet{Next: steps(
			guesttest.Emit((&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil)), guesttest.Body([]byte("x")), guesttest.Trap(),
		)}
		puppet.Manifest = abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead}
		m, err := provider.Open(t.Context(), provider.Config{Runner: run, Services: puppet.Services()}, puppet.Binary(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				if _, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, &full{}); !errors.Is(err, enough) {
					t.Errorf("got %v", err)
				}
			})
		}
		calls.Wait()
		if crash := abi.CrashOf(enough); crash != nil {
			t.Errorf("the sink's error is that of a crash now: %+v", crash)
		}
	})
}
