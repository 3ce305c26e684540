package preinit_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/preinit"
)

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
	prepared, err := preinit.Run(t.Context(), module, prepare)
	if err != nil {
		t.Fatal(err)
	}
	if len(logged) != 1 || logged[0] != "ello" {
		t.Errorf("logged %q", logged)
	}
	again, err := preinit.Run(t.Context(), module, prepare)
	if err != nil || !bytes.Equal(again, prepared) {
		t.Errorf("the same input gives other bytes, %v", err)
	}
	if _, err := preinit.Run(t.Context(), prepared, preinit.Function{Export: "examine"}); err != nil {
		t.Errorf("number %v differs", err)
	}
	if _, err := preinit.Run(t.Context(), prepared, prepare); err == nil || !strings.Contains(err.Error(), `no export "prepare"`) {
		t.Errorf("the result still has the export: %v", err)
	}
	if !bytes.Equal(module, guest(t, "guest")) {
		t.Error("Run has changed its argument")
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
			_, err := preinit.Run(ctx, guest(t, tt.module), preinit.Function{Export: tt.export, Log: logged})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	var failure *preinit.Failure
	_, err := preinit.Run(t.Context(), guest(t, "guest"), preinit.Function{Export: "fail"})
	if !errors.As(err, &failure) || *failure != (preinit.Failure{Code: abi.CodeInvalidParams, Message: "broken"}) {
		t.Errorf("got %#v", err)
	}
	if _, err := preinit.Run(t.Context(), []byte("no module"), preinit.Function{}); err == nil {
		t.Error("what is no module was initialised")
	}
}
