package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/wasmres/wasmres/runtime/capability/secret"
)

const text = "hunter2-hunter2"

// printed returns the forms of v that programs make of values.
func printed(t *testing.T, v any) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v", "%100v", "%p"} {
		if strings.HasPrefix(verb, "%T") {
			all[verb] = fmt.Sprintf(verb, v, v)
			continue
		}
		all[verb] = fmt.Sprintf(verb, v)
	}
	for name, encode := range map[string]func(any) ([]byte, error){
		"json": json.Marshal, "yaml": yaml.Marshal, "xml": xml.Marshal,
		"gob": func(v any) ([]byte, error) {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(v)
			return b.Bytes(), err
		},
	} {
		b, err := encode(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		all[name] = string(b)
	}
	for name, handler := range map[string]func(b *bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		slog.New(handler(&b)).Info("a secret", "value", v, slog.Group("group", "value", v))
		all[name] = b.String()
	}
	return all
}

func TestAValueIsNeverShown(t *testing.T) {
	v := secret.New(text)
	for form, got := range printed(t, v) {
		if !strings.Contains(got, secret.Redacted) && form != "%p" {
			t.Errorf("%s: got %q, want %q in it", form, got, secret.Redacted)
		}
	}
	type holder struct {
		Value  secret.Value
		Ptr    *secret.Value
		List   []secret.Value
		hidden secret.Value // which fmt prints without calling its methods
	}
	for _, form := range []map[string]string{printed(t, v), printed(t, holder{v, &v, []secret.Value{v}, v})} {
		for name, got := range form {
			hex := fmt.Sprintf("%x", text)
			if strings.Contains(got, text) || strings.Contains(strings.ToLower(got), hex) {
				t.Errorf("%s shows it: %q", name, got)
			}
		}
	}
	if v.Reveal() != text || (secret.Value{}).Reveal() != "" {
		t.Errorf("got %q and %q", v.Reveal(), secret.Value{}.Reveal())
	}
}

type failing struct{}

func (failing) Secret() (secret.Value, error) {
	return secret.Value{}, errors.New("the keyring is locked")
}

func TestSecretsComeFromTheirSources(t *testing.T) {
	t.Setenv("WASMRES_TEST_SECRET", text)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(text+" of a file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := secret.Open(map[string]secret.Source{"env": secret.Env("WASMRES_TEST_SECRET"), "file": secret.File(file)})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"env": text, "file": text + " of a file"} {
		if v, ok := s.Lookup(name); !ok || v.Reveal() != want {
			t.Errorf("%s: got %q, %t", name, v.Reveal(), ok)
		}
	}
	var none *secret.Store
	for _, s := range []*secret.Store{s, none} {
		if v, ok := s.Lookup("other"); ok {
			t.Errorf("got %q", v.Reveal())
		}
	}
}

func TestSourcesWithoutASecretAreNamed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WASMRES_TEST_EMPTY", "")
	long := filepath.Join(dir, "long")
	if err := os.WriteFile(long, bytes.Repeat([]byte("x"), 5<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, sources := range map[string]map[string]secret.Source{
		"environment variable WASMRES_TEST_ABSENT is not set": {"a": secret.Env("WASMRES_TEST_ABSENT")},
		"the secret is empty":             {"a": secret.Env("WASMRES_TEST_EMPTY")},
		"no such file":                    {"a": secret.File(filepath.Join(dir, "absent"))},
		"more than 4096 bytes":            {"a": secret.File(long)},
		"the keyring is locked":           {"a": failing{}},
		"invalid name: use 1 to":          {"a b": secret.Env("PATH")},
		`secret "": invalid name`:         {"": secret.Env("PATH")},
		`secret "b": the secret is empty`: {"b": secret.Env("WASMRES_TEST_EMPTY"), "c": failing{}},
	} {
		if _, err := secret.Open(sources); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
