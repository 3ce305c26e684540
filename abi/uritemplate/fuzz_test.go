package uritemplate_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi/uritemplate"
)

func FuzzMatch(f *testing.F) {
	f.Add("db://users/{id}", "db://users/42")
	f.Add("x:{+a}{?q,r*}{#f}", "x:/a?r=1&q=b,c&r=2#x")
	f.Add("x{/a*,b:3}{.c}{;d,e}{&g}", "x/1/2/3.4;e;d=5&g=%C3%A9")
	f.Add("{a}{b}{c*}{+d}", "%2e%2e/é,aaaa")
	f.Fuzz(func(t *testing.T, source, uri string) {
		template, err := uritemplate.Parse(source)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "uri template") {
				t.Errorf("got error %q, want it to say what it is about", err)
			}
			return
		}
		names := template.Variables()
		values, ok := template.Match(uri)
		if !ok && values != nil || len(values) > len(uri)+len(names) {
			t.Fatalf("got match %v with %d values for %d bytes", ok, len(values), len(uri))
		}
		last := 0
		for _, v := range values {
			i := slices.Index(names, v.Name)
			if i < last {
				t.Errorf("value of %q out of order or of no variable: %v", v.Name, values)
			}
			last = i
			if !utf8.ValidString(v.Value) || strings.ContainsFunc(v.Value, unicode.IsControl) {
				t.Errorf("%q holds what no value may", v.Value)
			}
			if v.Value == "." || slices.Contains(strings.FieldsFunc(v.Value, isSlash), "..") {
				t.Errorf("%q is a traversal", v.Value)
			}
		}
	})
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }
