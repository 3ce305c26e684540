package registry_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// A publisher has a key and signs with it.
type publisher struct{ *registry.Signer }

// publishers are made once for each name: a passphrase costs time on purpose.
var publishers sync.Map

// newPublisher returns the publisher of a name, and writes the public key to NAME.pub in dir.
func newPublisher(t testing.TB, dir, name string) *publisher {
	t.Helper()
	known, ok := publishers.Load(name)
	if !ok {
		key, err := registry.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := key.Write(file); err != nil {
			t.Fatal(err)
		}
		s, err := registry.LoadSigner(file+".key", nil)
		if err != nil {
			t.Fatal(err)
		}
		known, _ = publishers.LoadOrStore(name, &publisher{s})
	}
	p := known.(*publisher)
	if err := os.WriteFile(filepath.Join(dir, name+".pub"), p.PublicKey().PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// provider returns the manifest of a provider that was made at a minute, or without a time if that is negative.
func provider(t testing.TB, minute int) []byte {
	t.Helper()
	created := time.Date(2026, 11, 20, 12, minute, 0, 0, time.UTC)
	if minute < 0 {
		created = time.Time{}
	}
	p, err := oci.Pack(oci.DescriptorOf(oci.ModuleType, []byte("module")), "notes.wasm", created, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.ManifestBytes
}

func (p *publisher) sign(t testing.TB, manifest []byte) []byte {
	t.Helper()
	b, err := p.Sign(oci.DescriptorOf(oci.ManifestType, manifest))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func policy(t testing.TB, dir, text string) *registry.TrustPolicy {
	t.Helper()
	p, err := registry.ParsePolicy(filepath.Join(dir, "trust.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func reference(t testing.TB, text string) registry.Reference {
	t.Helper()
	r, err := registry.ParseReference(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const rules = `version: "1.0"
keys:
  - {name: ada, file: ada.pub}
  - {name: ben, file: ben.pub}
  - {name: cleo, file: cleo.pub}
rules:
  - {repositories: [r.io/any/*], keys: [ada, ben]}
  - {repositories: [r.io/all/*], keys: [ada, ben], require: all}
  - {repositories: [r.io/two/*], keys: [ada, ben, cleo], require: 2}
  - {repositories: [r.io/none/*], require: none}
default: %s
`

func TestSignaturesThatAPolicyRequires(t *testing.T) {
	dir := t.TempDir()
	signers := map[string]*publisher{}
	for _, name := range []string{"ada", "ben", "cleo", "eve"} {
		signers[name] = newPublisher(t, dir, name)
	}
	manifest, other := provider(t, 0), provider(t, 1)
	v := registry.NewVerifier(policy(t, dir, fmt.Sprintf(rules, "refuse")), registry.VerifierOptions{})
	for _, test := range []struct{ reference, by, signers, problem string }{
		{"r.io/any/x:1", "ada", "ada", ""},
		{"r.io/any/x:1", "eve ben", "ben", ""},
		{"r.io/any/x:1", "ben ada ada", "ada, ben", ""},
		{"r.io/any/x:1", "", "", "a signature by any of ada, ben is required: it has no signature: ask"},
		{"r.io/any/x:1", "eve cleo", "", "another key signed it"},
		{"r.io/any/x:1", "ada/other", "", "copied from another manifest"},
		{"r.io/all/x:1", "ada ben", "ada, ben", ""},
		{"r.io/all/x:1", "ada ada", "", "signatures by all of ada, ben are required: 1 of these keys signed it"},
		{"r.io/two/x:1", "cleo ada", "ada, cleo", ""},
		{"r.io/two/x:1", "cleo cleo", "", "signatures by 2 of ada, ben, cleo"},
		{"r.io/two/x:1", "cleo eve", "", "another key signed it"},
		{"r.io/none/x:1", "eve", "", ""},
		{"r.io/other/x:1", "ada", "", "no rule of " + dir + "/trust.yaml matches, and its default is to refuse: add a rule for r.io/other/x"},
	} {
		t.Run(test.reference+" by "+test.by, func(t *testing.T) {
			var bundles [][]byte
			for _, name := range strings.Fields(test.by) {
				name, about, _ := strings.Cut(name, "/")
				of := manifest
				if about != "" {
					of = other
				}
				bundles = append(bundles, signers[name].sign(t, of))
			}
			got, err := v.Verify(context.Background(), reference(t, test.reference), manifest, bundles)
			if test.problem != "" {
				if !errors.Is(err, registry.ErrUntrusted) || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), test.reference) {
					t.Errorf("%v, want %q", err, test.problem)
				}
				return
			}
			if err != nil || got.SignerNames() != test.signers || got.Signed != (test.signers != "") {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestABrokenSignatureCountsForNothing(t *testing.T) {
	dir := t.TempDir()
	ada := newPublisher(t, dir, "ada")
	only, err := registry.RequireKeys(ada.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	v := registry.NewVerifier(only, registry.VerifierOptions{})
	manifest, r := provider(t, 0), reference(t, "r.io/x:1")
	good := ada.sign(t, manifest)
	if got, err := v.Verify(context.Background(), r, manifest, [][]byte{[]byte("{}"), good[:9], good}); err != nil || !got.Signed {
		t.Errorf("a good signature after broken ones: %v, %v", got, err)
	}
	if _, err := v.Verify(context.Background(), r, manifest, [][]byte{[]byte("{}")}); !errors.Is(err, registry.ErrUntrusted) {
		t.Errorf("a broken signature: %v", err)
	}
	if _, err := v.Verify(context.Background(), r, manifest, make([][]byte, 65)); !errors.Is(err, registry.ErrUntrusted) {
		t.Errorf("65 signatures: %v", err)
	}
	if _, err := v.Verify(context.Background(), r, []byte("{}"), [][]byte{good}); err == nil {
		t.Error("a manifest that is none was accepted")
	}
	if _, err := v.Verify(context.Background(), r.At(oci.DigestOf(nil)), manifest, [][]byte{good}); err == nil {
		t.Error("a manifest of another digest than the reference's was accepted")
	}
	if _, err := v.VerifyFile("x.wasm"); !errors.Is(err, registry.ErrUntrusted) {
		t.Errorf("a file: %v", err)
	}
}

// References that lead to one repository have one rule. By default everything is allowed here: a spelling that the rule misses
// would be accepted without a signature.
func TestARuleCannotBeBypassedByAnotherSpelling(t *testing.T) {
	dir := t.TempDir()
	newPublisher(t, dir, "ada")
	text := `version: "1.0"
keys: [{name: ada, file: ada.pub}]
rules:
  - {repositories: [%q], keys: [ada]}
default: allow
`
	for pattern, spellings := range map[string]struct{ matched, others []string }{
		"ghcr.io/ada/*": {
			[]string{"ghcr.io/ada/notes:1", "GHCR.IO/ada/notes:1", "Ghcr.Io:443/ada/notes", "ghcr.io:00443/ada/notes:1"},
			[]string{"ghcr.io:5000/ada/notes", "ghcr.io/ada", "ghcr.io/ada/notes/deep", "ghcr.io.evil.com/ada/notes", "ghcr.io/adam/notes", "evil.com/ghcr.io/ada/notes"},
		},
		"ghcr.io:443/ada": {
			[]string{"ghcr.io/ada", "ghcr.io/ada/notes", "ghcr.io/ada/notes/deep"}, []string{"ghcr.io/adam"},
		},
		"GHCR.io": {[]string{"ghcr.io/a/b/c", "ghcr.io:443/x"}, []string{"ghcr.io:444/x", "docker.io/x"}},
		"docker.io/ada/notes": {
			[]string{"index.docker.io/ada/notes:1", "registry-1.docker.io:443/ada/notes", "registry.hub.docker.com/ada/notes", "Docker.IO/ada/notes"},
			[]string{"docker.io/eve/notes", "docker.io.evil.com/ada/notes"},
		},
		"docker.io/notes":   {[]string{"docker.io/library/notes", "docker.io/notes", "index.docker.io/notes"}, []string{"docker.io/ada/notes"}},
		"docker.io/**":      {[]string{"docker.io/library/notes", "docker.io/notes", "docker.io/a/b"}, nil},
		"*.example.com/a/*": {[]string{"r.example.com/a/b", "x.y.EXAMPLE.com:443/a/b"}, []string{"example.com/a/b", "r.example.com:444/a/b"}},
		"*.example.com":     {[]string{"r.example.com/a/b"}, []string{"example.com.evil.com/a"}},
		"*":                 {[]string{"r.io/a", "localhost:5000/a/b"}, []string{"oci-layout:/srv/x"}},
		"*/notes":           {[]string{"r.io/notes"}, []string{"oci-layout:/notes"}},
		"[::1]:5000/a":      {[]string{"[0:0:0:0:0:0:0:1]:5000/a", "[::0001]:05000/a"}, []string{"[::1]/a"}},
		"oci-layout:/srv/x": {[]string{"oci-layout:/srv/x:1", "oci-layout:/srv/y/../x", "oci-layout:/srv//x/", "oci-layout:/srv/x/deep"}, []string{"oci-layout:/srv/xy"}},
		"**":                {[]string{"r.io/a", "oci-layout:relative:1"}, nil},
	} {
		v := registry.NewVerifier(policy(t, dir, fmt.Sprintf(text, pattern)), registry.VerifierOptions{})
		check := func(spelling string, matched bool) {
			r := reference(t, spelling)
			_, err := v.Verify(context.Background(), r, provider(t, 0), nil)
			if errors.Is(err, registry.ErrUntrusted) != matched || v.NeedsSignatures(r) != matched || !matched && err != nil {
				t.Errorf("%s with the rule %s: %v", spelling, pattern, err)
			}
		}
		for _, s := range spellings.matched {
			check(s, true)
		}
		for _, s := range spellings.others {
			check(s, false)
		}
	}
	for _, text := range []string{"ghcr.io/ada%2fnotes", "ghcr.io/ada/notes/", "ghcr.io/ADA/notes", "ghcr.io./ada/notes", "ghcr.io//ada/notes", "ghcr.io/ada/../eve", "ghcr.io/./ada"} {
		if r, err := registry.ParseReference(text); err == nil {
			t.Errorf("%s is a reference: %+v", text, r)
		}
	}
}

func TestWithoutAPolicyNothingIsSigned(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	manifest := provider(t, 0)
	bundles := [][]byte{newPublisher(t, dir, "ada").sign(t, manifest)}
	p, err := registry.DefaultPolicy()
	if err != nil {
		t.Fatal(err)
	}
	want := registry.Verified{
		Digest: oci.DigestOf(manifest), Created: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Reason: "there is no trust policy at " + filepath.Join(dir, "wasmres", "trust.yaml"),
	}
	v := registry.NewVerifier(p, registry.VerifierOptions{State: t.TempDir()})
	got, err := v.Verify(context.Background(), reference(t, "r.io/x:1"), manifest, bundles)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if !strings.HasPrefix(got.String(), "no signature was verified: there is no trust policy") {
		t.Errorf("%s", got)
	}
	if file, err := v.VerifyFile("x.wasm"); err != nil || file.Signed {
		t.Errorf("a file: %v, %v", file, err)
	}
	if got, err := registry.NewVerifier(nil, registry.VerifierOptions{}).Verify(context.Background(), reference(t, "r.io/x:1"), manifest, bundles); err != nil || got.Signed {
		t.Errorf("with no policy at all: %v, %v", got, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "wasmres"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nothing", filepath.Join(dir, "wasmres", "trust.yaml")); err != nil {
		t.Fatal(err)
	}
	if p, err := registry.DefaultPolicy(); err == nil {
		t.Errorf("a link to nothing passed for no policy: %v", p)
	}
}

func TestFilesNeedPermission(t *testing.T) {
	for setting, allowed := range map[string]bool{"": false, "files: refuse": false, "files: allow": true} {
		v := registry.NewVerifier(policy(t, "", "version: \"1.0\"\ndefault: allow\n"+setting), registry.VerifierOptions{})
		if got, err := v.VerifyFile("x.wasm"); (err == nil) != allowed || got.Signed || err != nil && !errors.Is(err, registry.ErrUntrusted) {
			t.Errorf("%q: %v, %v", setting, got, err)
		}
	}
}

func TestOlderProvidersAreRefused(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	ada, ben := newPublisher(t, dir, "ada"), newPublisher(t, dir, "ben")
	p := policy(t, dir, `version: "1.0"
keys: [{name: ada, file: ada.pub}, {name: ben, file: ben.pub}]
rules: [{repositories: [r.io], keys: [ada, ben]}]
default: refuse
`)
	verify := func(text string, minute int, allow bool, by ...*publisher) error {
		manifest := provider(t, minute)
		r := reference(t, text)
		if r.Tag == "" {
			r = r.At(oci.DigestOf(manifest))
		}
		var bundles [][]byte
		for _, p := range by {
			bundles = append(bundles, p.sign(t, manifest))
		}
		_, err := registry.NewVerifier(p, registry.VerifierOptions{State: state, AllowDowngrade: allow}).
			Verify(context.Background(), r, manifest, bundles)
		return err
	}
	const digest = "r.io/notes@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for i, step := range []struct {
		reference string
		minute    int
		allow     bool
		by        *publisher
		downgrade bool
	}{
		{"r.io/notes:1", 10, false, ada, false},
		{"r.io/notes:1", 10, false, ada, false},
		{"r.io/notes:1", 9, false, ada, true},
		{"r.io/notes:2", 9, false, ada, true},
		{"R.IO:443/notes:1", 9, false, ada, true},
		{"r.io/notes:1", 9, false, ben, true}, // the signature of ada was left out
		{"r.io/notes:1", -1, false, ada, true},
		{"r.io/other:1", 9, false, ada, false},
		{digest, 9, false, ada, false}, // the user has chosen these bytes
		{"r.io/notes:1", 9, true, ada, false},
		{"r.io/notes:1", 9, false, ada, true}, // it was allowed once
		{"r.io/notes:1", 11, false, ben, false},
		{"r.io/notes:1", 10, false, ada, true},
		{"r.io/undated:1", -1, false, ada, false},
	} {
		err := verify(step.reference, step.minute, step.allow, step.by)
		if errors.Is(err, registry.ErrDowngrade) != step.downgrade || !step.downgrade && err != nil {
			t.Errorf("step %d, %s of minute %d: %v", i, step.reference, step.minute, err)
		}
	}
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := verify("r.io/notes:1", 10, false, ada); err == nil {
		t.Error("a version was accepted that could not be remembered")
	}
}

func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	ada := newPublisher(b, dir, "ada")
	only, err := registry.RequireKeys(ada.PublicKey())
	if err != nil {
		b.Fatal(err)
	}
	v := registry.NewVerifier(only, registry.VerifierOptions{State: b.TempDir()})
	manifest := provider(b, 0)
	bundles, r := [][]byte{ada.sign(b, manifest)}, reference(b, "r.io/notes:1")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(context.Background(), r, manifest, bundles); err != nil {
			b.Fatal(err)
		}
	}
}
