package abi_test

import (
	"mime"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

func TestIsMIMEType(t *testing.T) {
	for s, want := range map[string]bool{
		"text/plain":                                 true,
		"TEXT/Plain; charset=UTF-8":                  true,
		"text/plain;charset=\"utf-8\" ; a=b":         true,
		"text/plain;":                                true,
		"text/plain ; a=b ; ":                        true,
		`a/b; c="d;e\"f"`:                            true,
		"application/vnd.oci.image.manifest.v1+json": true,
		"inode/directory":                            true,
		"":                                           false,
		"text":                                       false,
		"text/":                                      false,
		"/plain":                                     false,
		"text/plain/x":                               false,
		"text / plain":                               false,
		" text/plain":                                false,
		"text/plain charset=utf-8":                   false,
		"text/plain; charset":                        false,
		"text/plain; charset=":                       false,
		"text/plain; charset=a b":                    false,
		"text/plain; =b":                             false,
		`text/plain; a="b`:                           false,
		`text/plain; a="b"c`:                         false,
		"text/plain; ; a=b":                          false,
		"image/*":                                    false,
		"*/*":                                        false,
		".png":                                       false,
		"text/plain, text/html":                      false,
		"text/<script>":                              false,
		"text/plain\r\nX: y":                         false,
		"tëxt/plain":                                 false,
		"-text/plain":                                false,
		"application/json; charset=é":                false,
	} {
		if got := abi.IsMIMEType(s); got != want {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
	}
}

// FuzzIsMIMEType holds that the parser of the standard library takes what is valid, but for repeated parameters.
func FuzzIsMIMEType(f *testing.F) {
	for _, s := range []string{"text/plain; charset=utf-8", `a/b; c="d\"e" ; f=g`, "a/b;c", "a/b;;", "*/*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !abi.IsMIMEType(s) {
			return
		}
		if _, _, err := mime.ParseMediaType(s); err != nil && err.Error() != "mime: duplicate parameter name" {
			t.Errorf("%q is taken, but the standard library says %v", s, err)
		}
	})
}
