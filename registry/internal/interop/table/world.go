package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/registry/internal/interop/clients"
	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/remote"
	"github.com/wasmres/wasmres/registry/internal/transfer"
)

// A world has two registries of one kind, keys, and wasmres's client.
type world struct {
	*clients.Programs
	ctx         context.Context
	dir         string
	here, there string // addresses of the registries
	stop        []func()
	client      *remote.Client
	signer      *registry.Signer // of the files ours.key and ours.pub
	theirs      *registry.PublicKey
	module      []byte
}

func newWorld(p *clients.Programs, kind, dir string) (w *world, err error) {
	w = &world{Programs: p, ctx: context.Background(), dir: dir, module: append([]byte("\x00asm\x01\x00\x00\x00"), customSection()...)}
	for _, address := range []*string{&w.here, &w.there} {
		var stop func()
		if *address, stop, err = p.Serve(kind); err != nil {
			return nil, err
		}
		w.stop = append(w.stop, stop)
	}
	if w.client, err = remote.New(remote.Options{}); err != nil {
		return nil, err
	}
	return w, errors.Join(os.MkdirAll(dir, 0o700), w.makeKeys())
}

// customSection makes each world's module another one.
func customSection() []byte { return append([]byte{0, 27, 0}, rand.Text()...) }

func (w *world) makeKeys() error {
	key, err := registry.GenerateKey([]byte(clients.Passphrase))
	if err != nil {
		return err
	}
	if err := key.Write(w.path("ours")); err != nil {
		return err
	}
	if w.signer, err = registry.LoadSigner(w.path("ours.key"), []byte(clients.Passphrase)); err != nil {
		return err
	}
	if _, err = w.Run(clients.Cosign, "generate-key-pair", "--output-key-prefix", w.path("theirs")); err != nil {
		return err
	}
	w.theirs, err = registry.LoadPublicKey(w.path("theirs.pub"))
	return err
}

func (w *world) close() {
	for _, stop := range w.stop {
		stop()
	}
	w.client.Close()
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// fresh returns the name of a repository that nothing has been pushed to.
func (w *world) fresh() string { return w.here + "/" + strings.ToLower(rand.Text()) }

// elsewhere returns the name of a repository in the other registry.
func (w *world) elsewhere(name string) string { return strings.Replace(name, w.here, w.there, 1) }

func (w *world) repository(name string) (*remote.Repository, error) {
	r, err := oci.ParseReference(name)
	if err != nil {
		return nil, err
	}
	return w.client.Repository(r)
}

func (w *world) pack() (oci.Packed, error) {
	created := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return oci.Pack(oci.DescriptorOf(oci.ModuleType, w.module), "notes.wasm", created, nil)
}

// layout returns a new image layout with the provider, tagged 1.
func (w *world) layout() (dir string, manifest oci.Descriptor, err error) {
	dir = w.path(rand.Text())
	l, err := layout.Open(dir, layout.Options{Create: true})
	if err != nil {
		return "", manifest, err
	}
	defer l.Close()
	p, err := w.pack()
	if err != nil {
		return "", manifest, err
	}
	to := l.Repository("")
	for _, part := range []struct {
		d oci.Descriptor
		b []byte
	}{{p.Module, w.module}, {p.Config, p.ConfigBytes}, {p.Manifest, p.ManifestBytes}} {
		if err := to.Push(w.ctx, part.d, bytes.NewReader(part.b)); err != nil {
			return "", manifest, err
		}
	}
	return dir, p.Manifest, to.Tag(w.ctx, p.Manifest, "1")
}

// push has wasmres push the provider, tagged 1.
func (w *world) push(name string) (oci.Descriptor, error) {
	dir, manifest, err := w.layout()
	if err != nil {
		return manifest, err
	}
	l, err := layout.Open(dir, layout.Options{})
	if err != nil {
		return manifest, err
	}
	defer l.Close()
	to, err := w.repository(name)
	if err != nil {
		return manifest, err
	}
	_, err = transfer.Copy(w.ctx, l.Repository(""), "1", to, "1", transfer.Options{})
	return manifest, err
}

// pushSigned has wasmres push and sign the provider.
func (w *world) pushSigned(name string) (oci.Descriptor, error) {
	manifest, err := w.push(name)
	if err != nil {
		return manifest, err
	}
	b, err := w.signer.Sign(manifest)
	if err != nil {
		return manifest, err
	}
	to, err := w.repository(name)
	if err != nil {
		return manifest, err
	}
	_, err = transfer.PushSignature(w.ctx, to, b, manifest)
	return manifest, err
}

// pull has wasmres pull what the tag 1 names, and compares the module. With a key, it verifies before it reads the module.
func (w *world) pull(name string, key *registry.PublicKey) error {
	from, err := w.repository(name)
	if err != nil {
		return err
	}
	return w.pullFrom(from, name, key)
}

func (w *world) pullFrom(from oci.Source, name string, key *registry.PublicKey) error {
	l, err := layout.Open(w.path(rand.Text()), layout.Options{Create: true})
	if err != nil {
		return err
	}
	defer l.Close()
	o := transfer.Options{}
	if key != nil {
		o.Verify = verifier(name, key)
	}
	to := l.Repository("")
	a, err := transfer.Copy(w.ctx, from, "1", to, "1", o)
	if err != nil {
		return err
	}
	return w.sameModule(to, a.Module)
}

// sameModule compares a module with the one that was pushed.
func (w *world) sameModule(from oci.Source, d oci.Descriptor) error {
	r, err := from.Fetch(w.ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err == nil && !bytes.Equal(got, w.module) {
		err = fmt.Errorf("the module has %d other bytes", len(got))
	}
	return err
}

// verifier requires a signature by a key.
func verifier(name string, key *registry.PublicKey) func(context.Context, *transfer.Artifact) error {
	return func(ctx context.Context, a *transfer.Artifact) error {
		policy, err := registry.RequireKeys(key)
		if err != nil {
			return err
		}
		r, err := registry.ParseReference(name + ":1")
		if err != nil {
			return err
		}
		_, err = registry.NewVerifier(policy, registry.VerifierOptions{}).Verify(ctx, r, a.Bytes, a.Bundles())
		return err
	}
}

// saved has wasmres read the provider from a layout that another program wrote, under whatever name.
func (w *world) saved(dir string, manifest oci.Descriptor, key *registry.PublicKey) error {
	l, err := layout.Open(dir, layout.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	from := l.Repository("")
	if err := from.Tag(w.ctx, manifest, "1"); err != nil {
		return err
	}
	return w.pullFrom(from, w.fresh(), key)
}

// at names a manifest by its digest.
func at(name string, d oci.Descriptor) string { return name + "@" + string(d.Digest) }

// cosign runs cosign, for a registry without TLS.
func (w *world) cosign(arguments ...string) (string, error) {
	return w.Run(clients.Cosign, append([]string{arguments[0], "--allow-http-registry"}, arguments[1:]...)...)
}
