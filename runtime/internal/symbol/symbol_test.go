package symbol_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/runtime/internal/symbol"
)

func TestNamesAreDemangled(t *testing.T) {
	for linked, want := range map[string]string{
		"main.fault":               "main.fault",
		"read_about":               "read_about",
		"provider/readAbout":       "provider/readAbout",
		"_ZN3Foo3barEiPKc":         "Foo::bar",
		"_RNvC6_123foo3bar":        "_RNvC6_123foo3bar",
		"_ZN1aW1aFcviE":            "_ZN1aW1aFcviE",
		"_ZN99999999999999999999E": "_ZN99999999999999999999E",
		"_ZNE":                     "_ZNE",
		"_ZN5short":                "_ZN5short",
		"_ZN17h0123456789abcdefE":  "h0123456789abcdef",
		"_ZN4core3ptr27drop_in_place$LT$$RF$u8$GT$17h0123456789abcdefE":                 "core::ptr::drop_in_place<&u8>",
		"_ZN7wasmres5route5Route3new28_$u7b$$u7b$closure$u7d$$u7d$17ha26edd8a749b7c6dE": "wasmres::route::Route::new::{{closure}}",
		"_Znot what it seems":       "_Znot what it seems",
		"red \x1b[31m\nforged \xff": "red  [31m forged \uFFFD",
		"":                          "",
	} {
		if got := (symbol.Names{1: linked}).Of(1); got != want {
			t.Errorf("%q: got %q, want %q", linked, got, want)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("_ZN3Foo3barEiPKc")
	f.Add("_RNvC6_123foo3bar")
	f.Add(strings.Repeat("_ZN1aIS_S_E", 20))
	f.Add("_Z" + strings.Repeat("cvT_I", 50))
	f.Fuzz(func(t *testing.T, linked string) {
		got := symbol.Names{1: linked[:min(len(linked), 256)]}.Of(1)
		if len(got) > 256 || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b") {
			t.Errorf("got %q", got)
		}
	})
}
