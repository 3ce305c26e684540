package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

func TestSecrets(t *testing.T) {
	for _, name := range []string{
		"password", "DB_PASSWORD", "dbPassword", "userpassword", "passwd", "pwd", "api-key", "apiKey", "APIKEY", "auth", "client_secret",
		"accessToken", "credential", "dsn", "ssh.private.file",
	} {
		if !isSecret(name) {
			t.Errorf("%s is shown", name)
		}
	}
	for _, name := range []string{"host", "monkey", "keyboard", "author", "compass", "port", "spin"} {
		if isSecret(name) {
			t.Errorf("%s is not shown", name)
		}
	}
	for _, text := range []string{
		"postgres://shop:hunter2@db/shop", "see redis://:hunter2@cache:6379", "Server=db;Password=hunter2;", "host=db password=hunter2",
		"Bearer abcdefgh", "basic c2hvcDpodW50ZXIy", "-----BEGIN RSA PRIVATE KEY-----\nMII", "ghp_0123456789abcdef", "AKIA0123456789ABCDEF",
		"eyJhbGciOiJIUzI1NiJ9.e30.x", "https://example.org/?token=hunter2", "sk-0123456789abcdef",
	} {
		if got := redactText(text, false); got != redacted {
			t.Errorf("%q is shown", text)
		}
	}
	for _, text := range []string{"https://example.org/a?b=c", "ada@example.org", "basic", "a key", "task-0123456789", "5432"} {
		if got := redactText(text, false); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

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
