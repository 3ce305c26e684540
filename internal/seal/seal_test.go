package seal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/seal"
)

func sealed(t testing.TB, k *seal.Keys, value string, purpose ...string) []byte {
	t.Helper()
	text, err := k.Seal([]byte(value), purpose...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A value opens by its key for its purpose alone, and not when a byte of it has changed.
func TestSeal(t *testing.T) {
	k, other := seal.New(), seal.New()
	for _, value := range []string{"", "s3cret", strings.Repeat("x", seal.MaxValue)} {
		text := sealed(t, k, value, "acme", "token")
		if got, err := k.Open(text, "acme", "token"); err != nil || string(got) != value {
			t.Errorf("got %q, %v", got, err)
		}
		if len(text) != len(value)+seal.Overhead || value != "" && bytes.Contains(text, []byte(value)) {
			t.Errorf("the sealed value has %d bytes", len(text))
		}
		if again := sealed(t, k, value, "acme", "token"); bytes.Equal(again, text) {
			t.Error("a nonce was used twice")
		}
		for _, purpose := range [][]string{{"beta", "token"}, {"acme", "other"}, {"acmetoken"}, {"acm", "etoken"}, {"acme", "token", ""}, nil} {
			if _, err := k.Open(text, purpose...); !errors.Is(err, seal.ErrDamaged) {
				t.Errorf("%q: got %v", purpose, err)
			}
		}
		if _, err := other.Open(text, "acme", "token"); !errors.Is(err, seal.ErrKey) {
			t.Errorf("another key: got %v", err)
		}
	}
	text := sealed(t, k, "s3cret", "acme")
	for i := range text {
		wrong := bytes.Clone(text)
		wrong[i] ^= 1
		if value, err := k.Open(wrong, "acme"); err == nil {
			t.Errorf("byte %d: got %q", i, value)
		}
		if value, err := k.Open(text[:i], "acme"); err == nil {
			t.Errorf("cut at %d: got %q", i, value)
		}
	}
	if _, err := k.Seal(make([]byte, seal.MaxValue+1)); err == nil {
		t.Error("a value that is too large was sealed")
	}
}

// While a key is replaced, both open; the new one seals.
func TestReplacedKeys(t *testing.T) {
	old := seal.New()
	next := seal.New()
	both := old.With(next)
	before := sealed(t, old, "a", "p")
	after := sealed(t, both, "b", "p")
	if both.Len() != 2 || both.IsFirst(before) || !both.IsFirst(after) {
		t.Error("the new key does not seal")
	}
	for want, text := range map[string][]byte{"a": before, "b": after} {
		if got, err := both.Open(text, "p"); err != nil || string(got) != want {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if _, err := both.First().Open(before, "p"); !errors.Is(err, seal.ErrKey) {
		t.Errorf("got %v", err)
	}
	if _, err := next.Open(after, "p"); err != nil {
		t.Error(err)
	}
}

func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	k := seal.New()
	if err := k.WriteNew(file); err != nil {
		t.Fatal(err)
	}
	if err := seal.New().WriteNew(file); err == nil {
		t.Error("a key was replaced")
	}
	text := sealed(t, k, "a")
	read, err := seal.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read.Open(text); err != nil || string(got) != "a" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := k.With(seal.New()).Write(file); err != nil {
		t.Fatal(err)
	}
	if read, err = seal.Read(file); err != nil || read.Len() != 2 {
		t.Errorf("got %v, %v", read, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	secret := string(good[len("wasmres-seal-1 "):40])
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if shown := fmt.Sprintf(form, read); strings.Contains(shown, secret) || shown != "2 keys" {
			t.Errorf("%s shows %s", form, shown)
		}
	}
	for name, row := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"open":      {string(good), 0o644, "other users can read"},
		"group":     {string(good), 0o640, "run chmod 600"},
		"empty":     {"", 0o600, "line 1 is not a key"},
		"short":     {string(good[:40]), 0o600, "line 1 is not a key"},
		"twice":     {string(good) + string(good), 0o600, "line 3 has a key that is there already"},
		"no prefix": {string(good[8:]), 0o600, "line 1 is not a key"},
		"long":      {strings.Repeat("x", 5000), 0o600, "more than 4096 bytes"},
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(file, []byte(row.text), 0o600), os.Chmod(file, row.mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.Read(file); err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want %s", name, err, row.want)
		}
	}
	if _, err := seal.Read(dir); err == nil {
		t.Error("a folder is a key")
	}
}

// Whatever a sealed value is, it opens to what was sealed or not at all.
func FuzzOpen(f *testing.F) {
	k := seal.New()
	good := sealed(f, k, "value", "acme", "token")
	f.Add(good)
	f.Add([]byte{})
	f.Add(good[:len(good)-1])
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := k.Open(text, "acme", "token")
		if err == nil && (string(value) != "value" || !bytes.Equal(text, good)) {
			t.Fatalf("%x opens to %q", text, value)
		}
		if err != nil && !errors.Is(err, seal.ErrKey) && !errors.Is(err, seal.ErrDamaged) {
			t.Fatal(err)
		}
	})
}
