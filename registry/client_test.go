package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/wasmres/wasmres/registry"
)

// newRegistry starts the registry of go-containerregistry, which has a middle part in what it gets.
func newRegistry(middle func(http.Handler) http.Handler) *httptest.Server {
	var h http.Handler = ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)), ggcr.WithReferrersSupport(true))
	if middle != nil {
		h = middle(h)
	}
	return httptest.NewServer(h)
}

// A publisher pushes a provider with a signature. A user who trusts the key gets it, ready to run.
func ExampleClient() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server := newRegistry(nil) // on loopback, which may speak HTTP
	defer server.Close()
	client, err := registry.NewClient(registry.ClientOptions{Anonymous: true})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	name, err := registry.ParseReference(server.Listener.Addr().String() + "/ada/notes:1.0.0")
	if err != nil {
		log.Fatal(err)
	}

	// The publisher.
	signer := newSigner(dir)
	own, err := registry.OpenStore(filepath.Join(dir, "publisher"), registry.StoreOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer own.Close()
	manifest, err := own.Add(ctx, strings.NewReader("\x00asm\x01\x00\x00\x00"), name, registry.Metadata{
		File: "notes.wasm", Created: time.Unix(1795000000, 0),
		Annotations: map[string]string{"org.opencontainers.image.created": "2026-11-18T13:06:40Z"},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Push(ctx, own, name, nil); err != nil {
		log.Fatal(err)
	}
	bundle, err := signer.Sign(manifest)
	if err != nil {
		log.Fatal(err)
	}
	if err := client.PushSignature(ctx, name, manifest, bundle); err != nil {
		log.Fatal(err)
	}

	// The user.
	policy, err := registry.RequireKeys(signer.PublicKey())
	if err != nil {
		log.Fatal(err)
	}
	store, err := registry.OpenStore(filepath.Join(dir, "user"), registry.StoreOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	getter := &registry.Getter{Store: store, Client: client, Verifier: registry.NewVerifier(policy, registry.VerifierOptions{})}
	provider, err := getter.Get(ctx, name, registry.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer provider.Release()
	module, err := os.ReadFile(provider.File)
	if err != nil {
		log.Fatal(err)
	}
	tags, err := client.Tags(ctx, name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(module), provider.Verified.Signed, provider.Fetched, tags)
	// Output: 8 true true [1.0.0]
}

// Copy keeps the digest, also to a layout that crane and skopeo read.
func ExampleClient_Copy() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server := newRegistry(nil)
	defer server.Close()
	client, err := registry.NewClient(registry.ClientOptions{Anonymous: true})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	from, err := registry.ParseReference("oci-layout:" + filepath.Join(dir, "layout") + ":1.0.0")
	if err != nil {
		log.Fatal(err)
	}
	layout, err := registry.OpenLayout(from, true, registry.StoreOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer layout.Close()
	added, err := layout.Add(ctx, strings.NewReader("\x00asm\x01\x00\x00\x00"), from, registry.Metadata{File: "notes.wasm"})
	if err != nil {
		log.Fatal(err)
	}

	to, err := registry.ParseReference(server.Listener.Addr().String() + "/ada/notes:1.0.0")
	if err != nil {
		log.Fatal(err)
	}
	copied, err := client.Copy(ctx, from, to, nil)
	if err != nil {
		log.Fatal(err)
	}
	found, err := client.Resolve(ctx, to)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(copied.Digest == added.Digest, found.Digest == added.Digest)
	// Output: true true
}

// A published provider is in a registry, and was signed by ada.
type published struct {
	client   *registry.Client
	name     registry.Reference
	manifest registry.Descriptor
	module   []byte
	blobs    atomic.Int64 // requests for the module
}

// publish pushes a provider to a registry whose answers change has in hand; nil for none.
func publish(t testing.TB, dir string, change func(p *published, w http.ResponseWriter, r *http.Request) bool) *published {
	t.Helper()
	p := &published{module: append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Repeat([]byte("notes"), 50_000)...)}
	var started atomic.Bool
	server := newRegistry(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if started.Load() && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") && r.ContentLength == 0 {
				p.blobs.Add(1)
			}
			if change == nil || !started.Load() || !change(p, w, r) {
				next.ServeHTTP(w, r)
			}
		})
	})
	t.Cleanup(server.Close)
	var err error
	if p.client, err = registry.NewClient(registry.ClientOptions{Anonymous: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.client.Close)
	p.name = reference(t, server.Listener.Addr().String()+"/ada/notes:1.0.0")
	own := openStore(t)
	p.manifest, err = own.Add(t.Context(), bytes.NewReader(p.module), p.name, registry.Metadata{File: "notes.wasm", Created: time.Unix(1795000000, 0)})
	if err == nil {
		err = p.client.Push(t.Context(), own, p.name, nil)
	}
	var bundle []byte
	if err == nil {
		bundle, err = newPublisher(t, dir, "ada").Sign(p.manifest)
	}
	if err == nil {
		err = p.client.PushSignature(t.Context(), p.name, p.manifest, bundle)
	}
	if err != nil {
		t.Fatal(err)
	}
	started.Store(true)
	return p
}

// getter returns one with an empty store, for users who trust a key.
func (p *published) getter(t testing.TB, dir, key string) *registry.Getter {
	t.Helper()
	text := fmt.Sprintf("version: \"1.0\"\nkeys: [{name: %s, file: %[1]s.pub}]\nrules: [{repositories: [\"**\"], keys: [%[1]s]}]\ndefault: refuse\n", key)
	return &registry.Getter{
		Store: openStore(t), Client: p.client, Verifier: registry.NewVerifier(policy(t, dir, text), registry.VerifierOptions{}),
	}
}

func TestWhatIsRefusedIsNotFetched(t *testing.T) {
	dir := t.TempDir()
	newPublisher(t, dir, "eve")
	p := publish(t, dir, nil)
	g := p.getter(t, dir, "eve")
	_, err := g.Get(t.Context(), p.name, registry.GetOptions{})
	if !errors.Is(err, registry.ErrUntrusted) || !strings.Contains(err.Error(), p.name.String()) {
		t.Errorf("%v", err)
	}
	if n := p.blobs.Load(); n != 1 { // the bundle
		t.Errorf("%d blobs were fetched", n)
	}
	if images, err := g.Store.Images(t.Context()); err != nil || len(images) != 0 {
		t.Errorf("%v, %v", images, err)
	}
	trusted := p.getter(t, dir, "ada")
	var done int64
	got, err := trusted.Get(t.Context(), p.name, registry.GetOptions{Progress: func(at registry.Progress) { done = max(done, at.Done) }})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if names := got.Verified.SignerNames(); names != "ada" || got.Manifest.Digest != p.manifest.Digest || done != int64(len(p.module)) {
		t.Errorf("%s by %s, %d bytes", got.Manifest.Digest, names, done)
	}
	before := p.blobs.Load()
	again, err := trusted.Get(t.Context(), p.name, registry.GetOptions{})
	if err != nil || again.Fetched || p.blobs.Load() != before {
		t.Errorf("what is in the store was fetched again: %v", err)
	}
	again.Release()
}

func TestABrokenPullLeavesNothing(t *testing.T) {
	isModule := func(p *published, r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") && p.blobs.Load() > 1 // after the bundle
	}
	for name, test := range map[string]struct {
		change func(p *published, w http.ResponseWriter, r *http.Request) bool
		want   string
	}{
		"a tampered module": {func(p *published, w http.ResponseWriter, r *http.Request) bool {
			if isModule(p, r) {
				_, _ = w.Write(bytes.ToUpper(p.module))
			}
			return isModule(p, r)
		}, "changed"},
		"a registry that no longer permits it": {func(p *published, w http.ResponseWriter, r *http.Request) bool {
			if isModule(p, r) {
				w.WriteHeader(http.StatusForbidden)
			}
			return isModule(p, r)
		}, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := publish(t, dir, test.change)
			g := p.getter(t, dir, "ada")
			_, err := g.Get(t.Context(), p.name, registry.GetOptions{})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), p.name.String()) {
				t.Errorf("%v; want %s", err, test.want)
			}
			isEmpty(t, g.Store)
		})
	}
	t.Run("a user who cancels", func(t *testing.T) {
		dir := t.TempDir()
		p := publish(t, dir, nil)
		g := p.getter(t, dir, "ada")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if _, err := g.Get(ctx, p.name, registry.GetOptions{Progress: func(registry.Progress) { cancel() }}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		isEmpty(t, g.Store)
	})
}

// isEmpty checks that a store has no image, and no file of a transfer.
func isEmpty(t *testing.T, s *registry.Store) {
	t.Helper()
	if images, err := s.Images(t.Context()); err != nil || len(images) != 0 {
		t.Errorf("%v, %v", images, err)
	}
	var files []string
	for _, folder := range []string{"ingest", "blobs/sha256"} {
		found, _ := filepath.Glob(filepath.Join(s.Dir(), folder, "*"))
		files = append(files, found...)
	}
	if len(files) > 0 {
		t.Errorf("files are left: %v", files)
	}
}
