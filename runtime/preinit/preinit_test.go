package preinit_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/preinit"
)

func TestMain(m *testing.M) {
	compiler.Main()
	os.Exit(m.Run())
}

func guest(t *testing.T, name string) []byte {
	t.Helper()
	module, err := os.ReadFile("testdata/" + name + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// The module that Run returns begins with what the function has left: a second function examines it.
func TestRun(t *testing.T) {
	module := guest(t, "guest")
	var logged []string
	prepare := preinit.Function{
		Export: "prepare", Input: []byte("hello"), Log: func(text string) { logged = append(logged, text) },
	}
	prepared, err := preinit.Run(t.Context(), module, prepare, preinit.Cache{})
	if err != nil {
		t.Fatal(err)
	}
	if len(logged) != 1 || logged[0] != "ello" {
		t.Errorf("logged %q", logged)
	}
	again, err := preinit.Run(t.Context(), module, prepare, preinit.Cache{})
	if err != nil || !bytes.Equal(again, prepared) {
		t.Errorf("the same input gives other bytes, %v", err)
	}
	if _, err := preinit.Run(t.Context(), prepared, preinit.Function{Export: "examine"}, preinit.Cache{}); err != nil {
		t.Errorf("number %v differs", err)
	}
	if _, err := preinit.Run(t.Context(), prepared, prepare, preinit.Cache{}); err == nil || !strings.Contains(err.Error(), `no export "prepare"`) {
		t.Errorf("the result still has the export: %v", err)
	}
	if !bytes.Equal(module, guest(t, "guest")) {
		t.Error("Run has changed its argument")
	}
}

// With a cache, Run compiles a module once, and the result is the same.
func TestRunKeepsNativeCode(t *testing.T) {
	prepare := preinit.Function{Export: "prepare", Input: []byte("hello")}
	want, err := preinit.Run(t.Context(), guest(t, "guest"), prepare, preinit.Cache{})
	if err != nil {
		t.Fatal(err)
	}
	cache := preinit.Cache{Dir: filepath.Join(t.TempDir(), "cache")}
	compiled := func() (when []time.Time) {
		files, err := filepath.Glob(filepath.Join(cache.Dir, "*", "*", "*")) // of native code
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			when = append(when, info.ModTime())
		}
		return when
	}
	var first []time.Time
	for i := range 2 {
		if got, err := preinit.Run(t.Context(), guest(t, "guest"), prepare, cache); err != nil || !bytes.Equal(got, want) {
			t.Errorf("run %d: other bytes than without a cache, %v", i, err)
		}
		if i == 0 {
			first = compiled()
		}
	}
	if again := compiled(); len(first) != 1 || !slices.Equal(again, first) {
		t.Errorf("native code was written at %v, and later at %v", first, again)
	}
}

// A directory that cannot be used is left out.
func TestRunWithoutACache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := preinit.Run(t.Context(), guest(t, "guest"), preinit.Function{Export: "prepare", Input: []byte("hello")}, preinit.Cache{Dir: file}); err != nil {
		t.Error(err)
	}
}

func TestRunFails(t *testing.T) {
	for _, tt := range []struct{ module, export, want string }{
		{"guest", "fail", "fail: broken"},
		{"guest", "fail_silently", "fail_silently: it failed with internal"},
		{"guest", "ask", "ask: it has called wasmres_v1.info: while it is built a provider cannot call the host"},
		{"guest", "trap", "trap: it has crashed: unreachable"},
		{"guest", "spin", "spin: the author is impatient"},
		{"guest", "recurse", "recurse: stack exhausted"},
		{"guest", "point", "point: it has passed a pointer that is out of range"},
		{"guest", "emit_nonsense", "emit_nonsense: "},
		{"guest", "set_table", "set_table: it has changed state that no module holds: function "},
		{"guest", "hoard", "hoard: it failed with not_found"},
		{"guest", "absent", `absent: no export "absent"`},
		{"passive", "prepare", "the module has a passive data segment"},
		{"start", "prepare", "the module has a start function"},
	} {
		t.Run(tt.module+" "+tt.export, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			logged := func(string) { cancel(errors.New("the author is impatient")) }
			_, err := preinit.Run(ctx, guest(t, tt.module), preinit.Function{Export: tt.export, Log: logged}, preinit.Cache{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	var failure *preinit.Failure
	_, err := preinit.Run(t.Context(), guest(t, "guest"), preinit.Function{Export: "fail"}, preinit.Cache{})
	if !errors.As(err, &failure) || *failure != (preinit.Failure{Code: abi.CodeInvalidParams, Message: "broken"}) {
		t.Errorf("got %#v", err)
	}
	gone := errors.New("the author has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	for name, cache := range map[string]preinit.Cache{"no cache": {}, "a cache": {Dir: filepath.Join(t.TempDir(), "cache")}} {
		if _, err := preinit.Run(ctx, guest(t, "guest"), preinit.Function{Export: "prepare"}, cache); !errors.Is(err, gone) {
			t.Errorf("%s: got %v, want the cause of the end", name, err)
		}
	}
	if _, err := preinit.Run(t.Context(), []byte("no module"), preinit.Function{}, preinit.Cache{}); err == nil {
		t.Error("what is no module was initialised")
	}
}
