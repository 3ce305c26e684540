package oci_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

const hexDigits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestReferences(t *testing.T) {
	const digest = "sha256:" + hexDigits
	for _, test := range []struct {
		text string
		want oci.Reference
	}{
		{"ghcr.io/ada/notes:1.2.0", oci.Reference{Registry: "ghcr.io", Repository: "ada/notes", Tag: "1.2.0"}},
		{"localhost:5000/notes", oci.Reference{Registry: "localhost:5000", Repository: "notes", Tag: "latest"}},
		{"[::1]:5000/notes:v1", oci.Reference{Registry: "[::1]:5000", Repository: "notes", Tag: "v1"}},
		{"r.io/a/b@" + digest, oci.Reference{Registry: "r.io", Repository: "a/b", Digest: digest}},
		{"r.io/a:1@" + digest, oci.Reference{Registry: "r.io", Repository: "a", Tag: "1", Digest: digest}},
		{"oci-layout:/tmp/x:1", oci.Reference{Layout: "/tmp/x", Tag: "1"}},
		{"oci-layout:a/b@" + digest, oci.Reference{Layout: "a/b", Digest: digest}},
	} {
		got, err := oci.ParseReference(test.text)
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v; want %+v", test.text, got, err, test.want)
		}
		if again, err := oci.ParseReference(got.String()); err != nil || again != got {
			t.Errorf("%s: parsed again from %s: %+v, %v", test.text, got, again, err)
		}
	}
	for _, text := range []string{"", "notes", "r.io/", "r.io/Notes", "r.io/a:", "r.io/a:b/c:", "r.io/a@sha256:12", "/etc/passwd",
		"./notes.wasm", "../a/b:1", "oci-layout:", "r.io/a:" + strings.Repeat("x", 129), "r.io/" + strings.Repeat("x", 5000), "r_.io/a b"} {
		if r, err := oci.ParseReference(text); err == nil {
			t.Errorf("%q was accepted as %+v", text, r)
		}
	}
}

func TestFilesAreNoReferences(t *testing.T) {
	for text, want := range map[string]bool{
		"ghcr.io/a/b:1": true, "localhost/a:1": true, "localhost:5000/a:1": true, "oci-layout:x": true, "r.io/a@sha256:" + hexDigits: true,
		"a/b.wasm": false, "a/b": false, "./a.wasm": false, "/x/y.wasm": false, "notes.wasm": false, "v1.0/notes.wasm": false, "a/b:1": false,
	} {
		if got := oci.LooksLikeReference(text); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestAProviderIsPackedReproducibly(t *testing.T) {
	module := oci.DescriptorOf("", []byte("\x00asm\x01\x00\x00\x00"))
	created := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	notes := map[string]string{"org.opencontainers.image.version": "1.0.0"}
	a, err := oci.Pack(module, "hello.wasm", created, notes)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := oci.Pack(module, "hello.wasm", created, notes)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	m, err := oci.ParseManifest(a.ManifestBytes)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := oci.ModuleOf(m, oci.MaxModule)
	if err != nil || layer.Digest != module.Digest || m.ArtifactType != oci.ProviderType || m.Config.MediaType != oci.ConfigType {
		t.Errorf("%+v, %v", m, err)
	}
	if m.Annotations[oci.CreatedAnnotation] != "2026-11-20T00:00:00Z" || len(m.Annotations) != 2 || len(notes) != 1 {
		t.Errorf("the annotations are %v, those given %v", m.Annotations, notes)
	}
	if _, err := oci.ModuleOf(m, 7); err == nil {
		t.Error("a module above the bound was accepted")
	}
	if _, err := oci.BundleOf(m, a.Manifest); err != oci.ErrNoBundle {
		t.Errorf("a provider passed for a signature: %v", err)
	}
}

func TestASignatureNamesItsSubject(t *testing.T) {
	subject := oci.DescriptorOf(oci.ManifestType, []byte("manifest"))
	p, err := oci.PackSignature([]byte("{}"), subject)
	if err != nil {
		t.Fatal(err)
	}
	m, err := oci.ParseManifest(p.ManifestBytes)
	if err != nil {
		t.Fatal(err)
	}
	if layer, err := oci.BundleOf(m, subject); err != nil || layer.Size != 2 {
		t.Errorf("%+v, %v", layer, err)
	}
	if _, err := oci.BundleOf(m, oci.DescriptorOf(oci.ManifestType, []byte("other"))); err == nil {
		t.Error("a signature about another manifest was accepted")
	}
}

func TestHostileManifests(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":         "PK",
		"an index":        `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`,
		"no config":       `{"schemaVersion":2}`,
		"huge config":     `{"schemaVersion":2,"config":{"digest":"sha256:` + hexDigits + `","size":10000000000}}`,
		"negative size":   `{"schemaVersion":2,"config":{"digest":"sha256:` + hexDigits + `","size":-1}}`,
		"a path":          `{"schemaVersion":2,"config":{"digest":"sha256:../../../etc/passwd","size":1}}`,
		"another subject": `{"schemaVersion":2,"config":{"digest":"sha256:` + hexDigits + `","size":1},"subject":{"digest":"md5:1"}}`,
		"many layers":     `{"schemaVersion":2,"config":{"digest":"sha256:` + hexDigits + `","size":1},"layers":[{}` + strings.Repeat(",{}", 1e6) + `]}`,
		"too large":       `{"schemaVersion":2,` + strings.Repeat(" ", oci.MaxManifest) + `}`,
	} {
		if m, err := oci.ParseManifest([]byte(text)); err == nil {
			t.Errorf("%s: accepted: %+v", name, m)
		}
	}
	two := `{"schemaVersion":2,"config":{"digest":"sha256:` + hexDigits + `","size":1},"layers":[{},{}]}`
	m, err := oci.ParseManifest([]byte(two))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oci.ModuleOf(m, oci.MaxModule); err == nil {
		t.Error("two layers were accepted")
	}
}

func FuzzReference(f *testing.F) {
	f.Add("ghcr.io/ada/notes:1@sha256:" + hexDigits)
	f.Add("oci-layout:a:b:c")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := oci.ParseReference(text)
		if err != nil {
			return
		}
		if again, err := oci.ParseReference(r.String()); err != nil || again != r {
			t.Errorf("%q is %+v, and %q again is %+v, %v", text, r, r.String(), again, err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	p, err := oci.Pack(oci.DescriptorOf("", nil), "a.wasm", time.Time{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.ManifestBytes)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := oci.ParseManifest(b)
		if err != nil {
			return
		}
		if d, err := oci.ModuleOf(m, oci.MaxModule); err == nil && (d.Size < 0 || d.Size > oci.MaxModule || len(d.Digest) != 71) {
			t.Errorf("accepted %+v", d)
		}
	})
}
