package abitest_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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
	t.Run("both ways", func(t *testing.T) { testPythonBothWays(t, r) })
}

// testPythonBothWays asks a handler by a template that the engine answers, and by one that the SDK does.
func testPythonBothWays(t *testing.T, r *rest) {
	values := []string{
		"", "0", "1", "-0", "+7", "-12", "007", "999999999999999999", "1000000000000000000", "-9223372036854775808", "99999999999999999999",
		"1.5", ".5", "5.", ".", "-.25", "+1e3", "1E-3", "1e", "e1", "1e+", "1e400", "-1e400", "0x10", "1_000", " 1", "1 ", "inf", "nan", "Infinity",
		"0.1", "123456789.123456789", "1e22", "4.9e-324", "2.2250738585072014e-308", "1" + strings.Repeat("0", 70), "true", "True",
		"yes", "on", "no", "off", "false", "one", "١", "½", "--1", "+", "-",
	}
	for _, handler := range []string{"typed", "asked"} {
		quick, slow := r.route("rest://"+handler+"/{n}/{x}/{flag}"), r.route("rest://"+handler+"/{n}/{x}/{flag}{?more*}")
		for i, value := range values {
			for place := range 3 {
				texts := [3]string{"1", "1", "1"}
				texts[place] = value
				req := typedRequest(quick, texts)
				if i%8 == 0 {
					req.Vars = slices.Delete(req.Vars, place, place+1) // the default
				} else if i%8 == 1 {
					req.Vars = append(req.Vars, req.Vars[place]) // a list
				}
				got := r.do(t, abi.OpRead, req)
				req.Route = slow
				if want := r.do(t, abi.OpRead, req); !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %q: got %+v, want %+v", handler, texts, got, want)
				}
			}
		}
	}
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
	wantBody(t, r.read(t, "rest://suspends/", "1", 0, 0), "first, first, ")
	route = r.route("rest://typed/{n}/{x}/{flag}")
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
