package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/registry"
)

func TestPoliciesWithErrors(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ada", "ben"} {
		newPublisher(t, dir, name)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.pub"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	const keys = "version: \"1.0\"\ndefault: refuse\nkeys:\n  - {name: ada, file: ada.pub}\n  - {name: ben, file: ben.pub}\n"
	for name, test := range map[string]struct{ text, want string }{
		"empty":                   {"", "trust.yaml: the file is empty"},
		"no default":              {"version: \"1.0\"\n", `trust.yaml:1:1: the key "default" is missing`},
		"another version":         {"version: \"2\"\ndefault: allow\n", `:1:10: the version is "2"`},
		"a misspelt key":          {"version: \"1.0\"\ndefalt: allow\n", `:2:1: unknown key "defalt"`},
		"a misspelt decision":     {"version: \"1.0\"\ndefault: alow\n", `:2:10: `},
		"a key without a file":    {keys + "  - {name: cleo}\n", `:6:6: the key "cleo": write either file or pem`},
		"a key that is missing":   {keys + "  - {name: cleo, file: cleo.pub}\n", `:6:6: the key "cleo": stat ` + dir},
		"a key that is none":      {keys + "  - {name: cleo, file: bad.pub}\n", `bad.pub cannot be used: it is no PEM file`},
		"a folder for a key":      {keys + "  - {name: cleo, file: .}\n", `is no file of a key: it is d`},
		"a device for a key":      {keys + "  - {name: cleo, file: /dev/zero}\n", `is no file of a key: it is D`},
		"a private key":           {keys + "  - name: cleo\n    pem: |\n      -----BEGIN PRIVATE KEY-----\n      -----END PRIVATE KEY-----\n", `:6:5: the key "cleo": it has a private key`},
		"one key twice":           {keys + "  - {name: cleo, file: ada.pub}\n", `:6:6: the key "cleo" is the same as "ada"`},
		"one name twice":          {keys + "  - {name: ada, file: ben.pub}\n", `"ada" is here twice`},
		"a name with a space":     {keys + "  - {name: ada l, file: ben.pub}\n", `is not a name`},
		"an unknown key":          {keys + "rules:\n  - {repositories: [r.io/a], keys: [eve]}\n", `:7:6: there is no key "eve"`},
		"a key twice in a rule":   {keys + "rules:\n  - {repositories: [r.io/a], keys: [ada, ada]}\n", `:7:6: the key "ada" is in the rule twice`},
		"a rule without keys":     {keys + "rules:\n  - {repositories: [r.io/a]}\n", `:7:6: the rule has no keys`},
		"no keys":                 {keys + "rules:\n  - {repositories: [r.io/a], keys: []}\n", `the list is empty`},
		"keys for nothing":        {keys + "rules:\n  - {repositories: [r.io/a], keys: [ada], require: none}\n", `:7:6: the rule requires no signature`},
		"more than there are":     {keys + "rules:\n  - {repositories: [r.io/a], keys: [ada, ben], require: 3}\n", `requires 3 signatures and has 2 keys`},
		"zero":                    {keys + "rules:\n  - {repositories: [r.io/a], keys: [ada], require: 0}\n", `"0"`},
		"less than zero":          {keys + "rules:\n  - {repositories: [r.io/a], keys: [ada], require: -1}\n", `"-1"`},
		"another requirement":     {keys + "rules:\n  - {repositories: [r.io/a], keys: [ada], require: some}\n", `"some"`},
		"no repositories":         {keys + "rules:\n  - {repositories: [], keys: [ada]}\n", `the list is empty`},
		"a rule that is hidden":   {keys + "rules:\n  - {repositories: [r.io], keys: [ada]}\n  - {repositories: [R.io/a/*], keys: [ben]}\n", `:8:6: the pattern "R.io/a/*" is never reached, since rule 1`},
		"a second rule hidden":    {keys + "rules:\n  - {repositories: [\"*\"], keys: [ada]}\n  - {repositories: [r.io], keys: [ben]}\n", `is never reached`},
		"hidden by everything":    {keys + "rules:\n  - {repositories: [\"**\"], keys: [ada]}\n  - {repositories: [\"oci-layout:/x\"], keys: [ben]}\n", `is never reached`},
		"a scheme":                {keys + "rules:\n  - {repositories: [\"https://r.io/a\"], keys: [ada]}\n", `without the scheme`},
		"a tag":                   {keys + "rules:\n  - {repositories: [\"r.io/a:1\"], keys: [ada]}\n", `without a tag`},
		"a slash at the end":      {keys + "rules:\n  - {repositories: [r.io/a/], keys: [ada]}\n", `without a slash at its end`},
		"upper case":              {keys + "rules:\n  - {repositories: [r.io/Ada], keys: [ada]}\n", `lower-case`},
		"stars within an element": {keys + "rules:\n  - {repositories: [r.io/a**], keys: [ada]}\n", `** stands for elements`},
		"stars within a host":     {keys + "rules:\n  - {repositories: [r.io*/a], keys: [ada]}\n", `begins with no host`},
		"a relative layout":       {keys + "rules:\n  - {repositories: [\"oci-layout:x\"], keys: [ada]}\n", `absolute path`},
		"a layout with dots":      {keys + "rules:\n  - {repositories: [\"oci-layout:/x/../y\"], keys: [ada]}\n", `absolute path`},
	} {
		p, err := registry.ParsePolicy(filepath.Join(dir, "trust.yaml"), []byte(test.text))
		if p != nil || err == nil || !strings.Contains(err.Error(), test.want) || len(strict.ProblemsOf(err)) == 0 {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// The policy in docs/registry.md is one.
func TestThePolicyOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../docs/registry.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```yaml\nversion:")
	block, _, closed := strings.Cut(block, "```\n")
	if !found || !closed {
		t.Fatal("docs/registry.md has no trust policy")
	}
	dir := t.TempDir()
	newPublisher(t, dir, "ada")
	v := registry.NewVerifier(policy(t, dir, "version:"+block), registry.VerifierOptions{})
	for name, want := range map[string]bool{"ghcr.io/ada/notes": true, "ghcr.io/ada/mail": true, "quay.io/ada/x": true, "localhost:5000/x": false} {
		if got := v.NeedsSignatures(reference(t, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A narrow rule stands before a wide one, whatever their kinds.
func TestTheFirstRuleDecides(t *testing.T) {
	dir := t.TempDir()
	newPublisher(t, dir, "ada")
	v := registry.NewVerifier(policy(t, dir, `{"version": "1.0", "default": "refuse",
 "keys": [{"name": "ada", "file": "ada.pub"}],
 "rules": [
  {"repositories": ["r.io/a/free"], "require": "none"},
  {"repositories": ["r.io/a/*", "r.io/b"], "keys": ["ada"]},
  {"repositories": ["r.io/a/**"], "require": "none"},
  {"repositories": ["r.io"], "keys": ["ada"], "require": 1}]}`), registry.VerifierOptions{})
	for name, want := range map[string]bool{
		"r.io/a/free": false, "r.io/a/free/x": false, "r.io/a/x": true, "r.io/b/x": true, "r.io/a/x/y": false, "r.io/c": true, "s.io/a": false,
	} {
		if got := v.NeedsSignatures(reference(t, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	got, err := v.Verify(context.Background(), reference(t, "r.io/a/free:1"), provider(t, 0), nil)
	if want := fmt.Sprintf("no signature was verified: rule %q of %s/trust.yaml", "r.io/a/free", dir); err != nil || got.String() != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTheSchemaIsThatOfTheFile(t *testing.T) {
	got := registry.PolicySchema()
	if !json.Valid(got) {
		t.Errorf("no JSON: %s", got)
	}
	want, err := os.ReadFile("testdata/trust.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestKeysAreNotOverwritten(t *testing.T) {
	key, err := registry.GenerateKey([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, there := range []string{".key", ".pub"} {
		name := filepath.Join(t.TempDir(), "ada")
		if err := os.WriteFile(name+there, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := key.Write(name); err == nil {
			t.Errorf("%s was replaced", there)
		}
		if text, err := os.ReadFile(name + there); string(text) != "mine" {
			t.Errorf("%s has %q, %v", there, text, err)
		}
		if files, err := filepath.Glob(name + "*"); err != nil || len(files) != 1 {
			t.Errorf("%v, %v", files, err)
		}
	}
	name := filepath.Join(t.TempDir(), "ada")
	if err := key.Write(name); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name + ".key"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := registry.LoadSigner(name+".pub", nil); err == nil || !strings.Contains(err.Error(), "a public key, whose file is NAME.pub") {
		t.Errorf("a public key for a private one: %v", err)
	}
}

// No text makes a policy that accepts what is not signed, unless it says so.
func FuzzPolicy(f *testing.F) {
	dir := f.TempDir()
	newPublisher(f, dir, "ada")
	f.Add("version: \"1.0\"\nkeys: [{name: ada, file: ada.pub}]\nrules: [{repositories: [r.io/a/*], keys: [ada], require: all}]\ndefault: refuse\n")
	f.Add(`{"version": 1.0, "default": "refuse", "rules": [{"repositories": ["*.io:5000/**", "oci-layout:/x"], "require": "none"}]}`)
	manifest := provider(f, 0)
	names := []string{"r.io/a/b", "docker.io/a", "[::1]:5000/a", "oci-layout:/srv/x"}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := registry.ParsePolicy(filepath.Join(dir, "trust.yaml"), []byte(text))
		if err != nil {
			return
		}
		v := registry.NewVerifier(p, registry.VerifierOptions{})
		for _, name := range names {
			got, err := v.Verify(context.Background(), reference(t, name), manifest, nil)
			if got.Signed || err == nil && !strings.Contains(text, "allow") && !strings.Contains(text, "none") {
				t.Errorf("%s was accepted: %v", name, got)
			}
		}
	})
}
