package abitest_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/project"
)

const pythonKit = "../../testdata/wasm/kit-python"

// TestPythonGuest holds the Python SDK to the kit, and shows its decoder what no host would send.
func TestPythonGuest(t *testing.T) {
	guest := packed(t, pythonKit, project.Python)
	abitest.Run(t, guest)
	t.Run("cut requests", func(t *testing.T) { testCutRequests(t, guest) })
	t.Run("bad requests", func(t *testing.T) { testBadRequests(t, guest) })
}

// TestPythonRest asks for what the SDK has beyond the kit.
func TestPythonRest(t *testing.T) {
	r := newRest(t, packed(t, filepath.Join(pythonKit, "rest"), project.Python))
	r.test(t, "python/1.0.0", "n is not a whole number from 0")
	t.Run("variables", func(t *testing.T) { testPythonVariables(t, r) })
}

// testPythonVariables sends variables that a template has once, several times, and not at all.
func testPythonVariables(t *testing.T, r *rest) {
	template := func(m abi.Template) bool { return m.URITemplate == "rest://vars/{a}/{b}{?c,d*}" }
	route := 1 + uint32(slices.IndexFunc(r.manifest.Templates, template))
	for want, vars := range map[string][]abi.Var{
		`{}`:                            {},
		`{"b": "2"}`:                    {{Name: "b", Value: "2"}},
		`{"d": ["ü"]}`:                  {{Name: "d", Value: "ü"}},
		`{"a": "1", "é": "狐"}`:          {{Name: "a", Value: "1"}, {Name: "é", Value: "狐"}},
		`{"a": "1", "d": ["3", "4"]}`:   {{Name: "a", Value: "1"}, {Name: "d", Value: "3"}, {Name: "d", Value: "4"}},
		`{"a": "1", "b": "2", "c": ""}`: {{Name: "a", Value: "1"}, {Name: "b", Value: "2"}, {Name: "c"}},
	} {
		wantBody(t, r.do(t, abi.OpRead, abi.Request{URI: "rest://vars/x", Route: route, Vars: vars}), want)
	}
	typed := func(m abi.Template) bool { return m.URITemplate == "rest://typed/{n}/{x}/{flag}" }
	route = 1 + uint32(slices.IndexFunc(r.manifest.Templates, typed))
	for want, values := range map[string][3]string{
		"-7 0.5 True": {"-7", ".5", "yes"}, "9223372036854775807 1e+300 False": {"9223372036854775807", "1e300", "0"},
	} {
		wantBody(t, r.do(t, abi.OpRead, typedRequest(route, values)), want)
	}
	for want, values := range map[string][3]string{
		"n is not a whole number": {"1.5", "1", "1"}, "x is not a number": {"1", "one", "1"},
		"flag is neither true nor false": {"1", "1", "maybe"},
	} {
		wantFailure(t, r.do(t, abi.OpRead, typedRequest(route, values)), abi.CodeInvalidParams, want)
	}
}

func typedRequest(route uint32, values [3]string) abi.Request {
	return abi.Request{URI: "rest://typed/x", Route: route, Vars: []abi.Var{
		{Name: "n", Value: values[0]}, {Name: "x", Value: values[1]}, {Name: "flag", Value: values[2]},
	}}
}
