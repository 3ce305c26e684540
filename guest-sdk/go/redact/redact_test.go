package redact_test

import (
	"os"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/guest-sdk/go/redact"
)

// A vector is a setting, and what clients may see of it.
type vector struct{ name, value, shown, planted string }

// vectors reads those that the SDKs of all languages share.
func vectors(t testing.TB) (all []vector) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/redact.txt")
	if os.IsNotExist(err) {
		t.Skip("NOT TESTED: this copy of the SDK has no vectors")
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n"), "\t")
		if len(columns) != 4 {
			t.Fatalf("%q has %d columns", line, len(columns))
		}
		all = append(all, vector{columns[0], columns[1], columns[2], columns[3]})
	}
	return all
}

func TestValue(t *testing.T) {
	secrets, ordinary := 0, 0
	for _, v := range vectors(t) {
		got := redact.Value(v.name, v.value)
		if got != v.shown {
			t.Errorf("%s = %q: got %q, want %q", v.name, v.value, got, v.shown)
		}
		if again := redact.Value(v.name, got); !strings.Contains(got, redact.Mark) && again != got {
			t.Errorf("%s = %q: shown again as %q", v.name, got, again)
		}
		if v.planted == "" {
			ordinary++
			continue
		}
		secrets++
		if !strings.Contains(v.value, v.planted) {
			t.Errorf("%s = %q has no %q", v.name, v.value, v.planted)
		}
		if strings.Contains(got, v.planted) {
			t.Errorf("%s = %q is shown with %q", v.name, v.value, v.planted)
		}
	}
	if secrets < 100 || ordinary < 50 {
		t.Errorf("got %d secrets and %d ordinary values", secrets, ordinary)
	}
}

// Texts that begin a shape over and over.
func TestLongTexts(t *testing.T) {
	for _, part := range []string{
		"://", "a:", "a:b@", "pwd=a ", "pwd=a;", "token: ", "bearer ", "basic AAAA ", "-----BEGIN ", "-----BEGIN CERTIFICATE-----",
		"eyJ.", "1234567890:AA", "/", "{}", "\"pwd\":\"", "<pwd>", "--pwd ", "\n", "jdbc:oracle:/", "pwd=", "pwd:bearer ",
		"key_path=/",
	} {
		text := strings.Repeat(part, 1<<16/len(part))
		got := redact.Text(text)
		if len(got) > len(text)*4 {
			t.Errorf("%q: got %d bytes of %d", part, len(got), len(text))
		}
	}
}

// Texts whose shapes go on to their end, and begin at each word: time that grows with the square of the length is minutes
// here.
func TestVeryLongLines(t *testing.T) {
	for _, part := range []string{"key_path=/", "/api/webhooks/", "pwd='$A", "token_url=\"/"} {
		text := strings.Repeat(part, 1<<20/len(part))
		if got := redact.Text(text); len(got) > len(text)*4 {
			t.Errorf("%q: got %d bytes of %d", part, len(got), len(text))
		}
	}
}

// FuzzText puts a secret in a shape that is known, between lines of any text, and never sees it again.
func FuzzText(f *testing.F) {
	var planted []vector
	for _, v := range vectors(f) {
		if v.planted == "hunter2" {
			planted = append(planted, v)
		}
	}
	f.Add("a = b", "c = d", uint16(0))
	f.Add("password: \"", "-----BEGIN PRIVATE KEY-----", uint16(80))
	f.Add("-----BEGIN CERTIFICATE-----\npostgres://", "@host", uint16(100))
	f.Add("pass: \"\\", "", uint16(90)) // the quote is not closed, and the line ends with a backslash
	f.Fuzz(func(t *testing.T, before, after string, n uint16) {
		const secret = "hQ7zunter2Xk9"
		v := planted[int(n)%len(planted)]
		value := strings.ReplaceAll(v.value, "hunter2", secret)
		if strings.Contains(before+after, secret) {
			return
		}
		if got := redact.Value(v.name, value); strings.Contains(got, secret) {
			t.Errorf("%s = %q: got %q", v.name, value, got)
		}
		line := value
		if v.shown == redact.Mark { // it may be only its name that says so
			line = v.name + " = " + value
		}
		text := before + "\n" + line + "\n" + after
		got := redact.Text(text)
		if strings.Contains(got, secret) {
			t.Errorf("%q is shown as %q", text, got)
		}
		if !strings.Contains(got, redact.Mark) {
			t.Errorf("%q has no mark", got)
		}
	})
}
