package runtime

import (
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

// TestACollectorChecksTextsInPieces parts texts in two at each byte: whether a text is UTF-8 does not depend on that.
func TestACollectorChecksTextsInPieces(t *testing.T) {
	for _, text := range []string{"", "a", "ü", "世界", "👍", "a👍b", "\xff", "a\xc3", "\xe4\xb8", "ü\x80", "\xf0\x9f\x91", "\xed\xa0\x80"} {
		for at := range len(text) + 1 {
			var c collector
			err := c.Content(&abi.Content{URI: "x:a", Kind: abi.KindText})
			for _, piece := range []string{text[:at], text[at:]} {
				if err == nil {
					err = c.Body([]byte(piece))
				}
			}
			if err == nil {
				err = c.end()
			}
			if valid := utf8.ValidString(text); valid != (err == nil) || !valid && abi.CodeOf(err) != abi.CodeInvalidText {
				t.Errorf("%q, parted at %d: got %v", text, at, err)
			}
			if err == nil && string(c.contents[0].Data) != text {
				t.Errorf("%q, parted at %d: got %q", text, at, c.contents[0].Data)
			}
		}
	}
}

// TestACollectorChecksEachText does so for a text that another content follows.
func TestACollectorChecksEachText(t *testing.T) {
	var c collector
	for _, content := range []abi.Content{{URI: "x:a", Kind: abi.KindText}, {URI: "x:b", Kind: abi.KindBlob}} {
		err := c.Content(&content)
		if content.URI == "x:b" {
			if abi.CodeOf(err) != abi.CodeInvalidText {
				t.Errorf("after half a character: got %v", err)
			}
			return
		}
		if err := c.Body([]byte("\xc3")); err != nil {
			t.Fatal(err)
		}
	}
}
