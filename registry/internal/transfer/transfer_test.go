package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/registrytest"
	"github.com/wasmres/wasmres/registry/internal/transfer"
)

var module = append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Repeat([]byte("wasm"), 10_000)...)

func TestTheOrderOfTrust(t *testing.T) {
	var from, to registrytest.Memory
	p := from.Add(t, module, "1.0")
	if _, err := transfer.PushSignature(t.Context(), &from, []byte(`{"bundle":1}`), p.Manifest); err != nil {
		t.Fatal(err)
	}
	from.Log = nil
	var done int64
	a, err := transfer.Copy(t.Context(), &from, "1.0", &to, "1.0", transfer.Options{
		Signatures: true,
		Verify: func(_ context.Context, a *transfer.Artifact) error {
			from.Log = append(from.Log, "verify "+string(bytes.Join(a.Bundles(), nil)))
			return nil
		},
		Progress: func(p transfer.Progress) {
			if p.Descriptor.MediaType == oci.ModuleType {
				done = p.Done
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	fetched := []string{
		"fetch vnd.oci.image.manifest.v1+json", "fetch vnd.oci.image.manifest.v1+json", "fetch vnd.dev.sigstore.bundle.v0.3+json",
		`verify {"bundle":1}`, "fetch wasm", "fetch vnd.wasm.config.v0+json",
	}
	if diff := cmp.Diff(fetched, from.Log); diff != "" {
		t.Error(diff)
	}
	stored := []string{
		"push wasm", "push vnd.wasm.config.v0+json", "push vnd.oci.image.manifest.v1+json",
		"push vnd.dev.sigstore.bundle.v0.3+json", "push vnd.oci.empty.v1+json", "push vnd.oci.image.manifest.v1+json", "tag 1.0",
	}
	if diff := cmp.Diff(stored, to.Log); diff != "" {
		t.Error(diff)
	}
	if done != int64(len(module)) || a.Descriptor.Digest != p.Manifest.Digest || !bytes.Equal(to.Bytes(p.Module.Digest), module) {
		t.Errorf("%d bytes of %s", done, a.Descriptor.Digest)
	}
	if found, err := to.Referrers(t.Context(), p.Manifest); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestWhatIsThereIsNotCopiedAgain(t *testing.T) {
	var from, to registrytest.Memory
	p := from.Add(t, module, "1.0")
	to.Add(t, module, "0.9")
	exists := false
	_, err := transfer.Copy(t.Context(), &from, string(p.Manifest.Digest), &to, "", transfer.Options{
		Progress: func(p transfer.Progress) { exists = exists || p.Exists && p.Descriptor.MediaType == oci.ModuleType },
	})
	if err != nil || !exists {
		t.Errorf("%v, %v", exists, err)
	}
	if log := strings.Join(to.Log, ", "); strings.Contains(log, "push wasm") || strings.Contains(log, "tag") {
		t.Error(log)
	}
}

func TestNothingUnverifiedIsStored(t *testing.T) {
	refused := errors.New("not signed by a key of the policy")
	pack := func(from *registrytest.Memory) oci.Packed { return from.Add(t, module, "1.0") }
	for name, test := range map[string]struct {
		prepare func(from *registrytest.Memory)
		verify  error
		want    string
		stored  int // blobs that the target may have: whole ones
	}{
		"refused by the policy": {func(from *registrytest.Memory) { pack(from) }, refused, refused.Error(), 0},
		"tampered module": {func(from *registrytest.Memory) {
			from.Replace(pack(from).Module.Digest, bytes.ToUpper(module))
		}, nil, "the bytes have the digest", 0},
		"longer module": {func(from *registrytest.Memory) {
			from.Replace(pack(from).Module.Digest, append(module[:len(module):len(module)], 0))
		}, nil, "more bytes", 0},
		"shorter module": {func(from *registrytest.Memory) {
			from.Replace(pack(from).Module.Digest, module[:100])
		}, nil, "100 bytes", 0},
		"tampered manifest": {func(from *registrytest.Memory) {
			p := pack(from)
			from.Replace(p.Manifest.Digest, bytes.Replace(p.ManifestBytes, []byte("notes"), []byte("n0tes"), 1))
		}, nil, "the bytes have the digest", 0},
		"tampered configuration": {func(from *registrytest.Memory) {
			p := pack(from)
			from.Replace(p.Config.Digest, bytes.Replace(p.ConfigBytes, []byte("wasip1"), []byte("wasip2"), 1))
		}, nil, "the bytes have the digest", 1},
		"tampered bundle": {func(from *registrytest.Memory) {
			p := pack(from)
			if _, err := transfer.PushSignature(t.Context(), from, []byte("good"), p.Manifest); err != nil {
				t.Fatal(err)
			}
			from.Replace(oci.DigestOf([]byte("good")), []byte("evil"))
		}, nil, "the bytes have the digest", 0},
		"two layers": {func(from *registrytest.Memory) {
			tag(t, from, `{"schemaVersion":2,"config":{"digest":"`+string(oci.DigestOf(nil))+`","size":0},"layers":[{},{}]}`)
		}, nil, "2 layers", 0},
		"10 GB declared": {func(from *registrytest.Memory) {
			tag(t, from, `{"schemaVersion":2,"config":{"digest":"`+string(oci.DigestOf(nil))+`","size":0},"layers":[{"mediaType":"application/wasm","size":10000000000,"digest":"`+string(oci.DigestOf(nil))+`"}]}`)
		}, nil, "10000000000 bytes", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var from, to registrytest.Memory
			test.prepare(&from)
			_, err := transfer.Copy(t.Context(), &from, "1.0", &to, "1.0", transfer.Options{
				Verify: func(context.Context, *transfer.Artifact) error { return test.verify },
			})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want %s", err, test.want)
			}
			if tags, _ := to.Tags(t.Context()); to.Len() != test.stored || len(tags) != 0 {
				t.Errorf("%d blobs and the tags %v are there", to.Len(), tags)
			}
			if test.verify != nil && strings.Contains(strings.Join(from.Log, ","), "fetch wasm") {
				t.Error("the module was fetched before the policy refused it")
			}
		})
	}
}

// tag stores a manifest as 1.0.
func tag(t *testing.T, m *registrytest.Memory, text string) {
	t.Helper()
	d := oci.DescriptorOf(oci.ManifestType, []byte(text))
	if err := m.Push(t.Context(), d, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := m.Tag(t.Context(), d, "1.0"); err != nil {
		t.Fatal(err)
	}
}

// flaky fails when it has read half of a module.
type flaky struct {
	*registrytest.Memory
	breaks int
	err    error
}

func (f *flaky) Push(ctx context.Context, d oci.Descriptor, r io.Reader) error {
	if d.MediaType != oci.ModuleType || f.breaks == 0 {
		return f.Memory.Push(ctx, d, r)
	}
	f.breaks--
	if _, err := io.CopyN(io.Discard, r, d.Size/2); err != nil {
		return err
	}
	return f.err
}

func TestInterruptedUploadsAreRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		breaks int
		err    error
		ok     bool
	}{
		"once":      {1, oci.ErrInterrupted, true},
		"for ever":  {1000, oci.ErrInterrupted, false},
		"otherwise": {1, errors.New("disk full"), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var from, to registrytest.Memory
				from.Add(t, module, "1.0")
				_, err := transfer.Copy(t.Context(), &from, "1.0", &flaky{&to, test.breaks, test.err}, "1.0", transfer.Options{})
				if (err == nil) != test.ok || err != nil && !errors.Is(err, test.err) {
					t.Error(err)
				}
				if !test.ok && to.Len() != 0 {
					t.Errorf("%d blobs are there", to.Len())
				}
			})
		})
	}
}

func TestReferrersThatAreNoSignaturesAreLeftOut(t *testing.T) {
	var from registrytest.Memory
	p := from.Add(t, module, "1.0")
	subject := `"subject":{"mediaType":"` + oci.ManifestType + `","digest":"` + string(p.Manifest.Digest) + `","size":1}`
	for _, text := range []string{
		`{"schemaVersion":2,` + subject + `,"config":{"digest":"` + string(oci.DigestOf(nil)) + `","size":0},"layers":[]}`,
		`{"schemaVersion":2,` + subject + `,"config":{"digest":"` + string(oci.DigestOf(nil)) + `","size":0},"layers":[{"mediaType":"` +
			oci.BundleType + `","digest":"` + string(oci.DigestOf([]byte("gone"))) + `","size":4}]}`,
	} {
		if err := from.Push(t.Context(), oci.DescriptorOf(oci.ManifestType, []byte(text)), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := transfer.PushSignature(t.Context(), &from, []byte("bundle"), p.Manifest); err != nil {
		t.Fatal(err)
	}
	a, err := transfer.Open(t.Context(), &from, "1.0", oci.MaxModule)
	if err == nil {
		err = a.FetchSignatures(t.Context(), &from)
	}
	if err != nil || len(a.Signatures) != 1 || string(a.Bundles()[0]) != "bundle" {
		t.Errorf("%v, %+v", err, a)
	}
}
