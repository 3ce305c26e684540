package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

// FuzzRedact: whatever a file is, a value with the name of a secret is not shown.
func FuzzRedact(f *testing.F) {
	const secret = "hunter2hunter2"
	f.Add("a: 1", 0)
	f.Add("[a]\nb = 1", 1)
	f.Add(`"c"`, 2)
	f.Fuzz(func(t *testing.T, text string, kind int) {
		if strings.Contains(text, secret) {
			t.Skip()
		}
		kinds := []struct{ file, extension string }{
			{"password: " + secret + "\nrest:\n  " + text, ".yml"},
			{"password = " + strconv.Quote(secret) + "\n" + text, ".toml"},
			{`{"password": "` + secret + `", "rest": ` + text + "}", ".json"},
			{"password = " + secret + "\n" + text, ".ini"},
		}
		c := kinds[uint(kind)%uint(len(kinds))]
		shown, err := formats[c.extension].redact([]byte(c.file))
		if err == nil && bytes.Contains(shown, []byte(secret)) {
			t.Errorf("%s: a secret of %q is shown: %q", c.extension, c.file, shown)
		}
	})
}
