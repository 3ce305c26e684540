package uritemplate_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi/uritemplate"
)

func TestCompare(t *testing.T) {
	tests := []struct {
		name string
		want []string // most specific first
	}{
		{"literal before expression", []string{"x://me", "x://{a}"}},
		{"longer literal", []string{"db://users/me/{a}", "db://users/{a}"}},
		{"first difference decides", []string{"x://a/b/{+c}", "x://a/{b}/c"}},
		{"simple before reserved", []string{"x://{z}", "x://{+a}"}},
		{"plain before exploded", []string{"x://{z}", "x://{a*}", "x://{+a}"}},
		{"end before expression", []string{"x://a", "x://a{?b}"}},
		{"literal before end", []string{"x://{a}/b", "x://{a}", "x://{a}{b}"}},
		{"fewer variables", []string{"x://{z}", "x://{a,b}"}},
		{"string last", []string{"x://{a:3}", "x://{a}", "x://{b}"}},
		{"length in characters", []string{"x://é/{a}", "x://e{a}"}},
		{"catch-all last", []string{"file:///a{?b}", "file:///{+path}", "{+uri}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var templates []*uritemplate.Template
			for _, s := range slices.Backward(tt.want) {
				templates = append(templates, mustParse(t, s))
			}
			slices.SortFunc(templates, uritemplate.Compare)
			var got []string
			for _, template := range templates {
				got = append(got, template.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareIsTotal(t *testing.T) {
	var templates []*uritemplate.Template
	for _, s := range []string{
		"a", "b", "ab", "{a}", "{b}", "{+a}", "a{b}", "a{b*}", "{a}b", "{a,b}", "a{?b}", "a{?b,c}", "{a:2}", "{/a*}", "{#a}",
	} {
		templates = append(templates, mustParse(t, s))
	}
	for _, a := range templates {
		for _, b := range templates {
			got := uritemplate.Compare(a, b)
			if (got == 0) != (a.String() == b.String()) {
				t.Errorf("Compare(%s, %s) = %d", a, b, got)
			}
			if back := uritemplate.Compare(b, a); got != -back {
				t.Errorf("Compare(%s, %s) = %d, but %d the other way round", a, b, got, back)
			}
			for _, c := range templates {
				if got < 0 && uritemplate.Compare(b, c) < 0 && uritemplate.Compare(a, c) >= 0 {
					t.Errorf("%s before %s before %s, but not before it", a, b, c)
				}
			}
		}
	}
}
