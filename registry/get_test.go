package registry_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"

	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// A user has a store, trusts ada by a policy, and remembers what was accepted.
type user struct {
	t      *testing.T
	store  *registry.Store
	client *registry.Client
	policy *registry.TrustPolicy
	state  string

	host     string
	mu       sync.Mutex
	requests []string // method and path, guarded by mu
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{t: t, state: filepath.Join(t.TempDir(), "accepted")}
	handler := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)), ggcr.WithReferrersSupport(true))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.requests = append(u.requests, r.Method+" "+r.URL.Path)
		u.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	u.host = s.Listener.Addr().String()
	var err error
	if u.client, err = registry.NewClient(registry.ClientOptions{Anonymous: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.client.Close)
	u.store = openStore(t)
	dir := t.TempDir()
	newPublisher(t, dir, "ada")
	u.policy = policy(t, dir, "version: \"1.0\"\nkeys: [{name: ada, file: ada.pub}]\nrules: [{repositories: [\""+u.host+"\"], keys: [ada]}]\ndefault: refuse\n")
	return u
}

// publish pushes a provider that was made at a minute. Its module is named after the minute. by signs it.
func (u *user) publish(tag string, minute int, by ...string) registry.Descriptor {
	u.t.Helper()
	r := reference(u.t, u.host+"/notes:"+tag)
	from := openStore(u.t)
	created := time.Date(2026, 11, 20, 12, minute, 0, 0, time.UTC)
	module := append([]byte("\x00asm\x01\x00\x00\x00\x00\x02\x01"), byte(minute))
	manifest, err := from.Add(u.t.Context(), bytes.NewReader(module), r, registry.Metadata{Created: created})
	if err == nil {
		err = u.client.Push(u.t.Context(), from, r, nil)
	}
	if err != nil {
		u.t.Fatal(err)
	}
	for _, name := range by {
		u.attach(tag, manifest, manifest, name)
	}
	return manifest
}

// attach stores a signature about one manifest as if it were about another.
func (u *user) attach(tag string, to, about registry.Descriptor, by string) {
	u.t.Helper()
	b, err := newPublisher(u.t, u.t.TempDir(), by).Sign(about)
	if err == nil {
		err = u.client.PushSignature(u.t.Context(), reference(u.t, u.host+"/notes:"+tag), to, b)
	}
	if err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) get(locator string, online, update bool) (*registry.Provider, error) {
	u.t.Helper()
	g := &registry.Getter{Store: u.store, Verifier: registry.NewVerifier(u.policy, registry.VerifierOptions{State: u.state})}
	if online {
		g.Client = u.client
	}
	p, err := g.Get(context.Background(), reference(u.t, u.host+"/notes"+locator), registry.GetOptions{Update: update})
	if err == nil {
		p.Release()
	}
	return p, err
}

// read reports whether the module of a manifest was asked for.
func (u *user) read(minute int) bool {
	module := append([]byte("\x00asm\x01\x00\x00\x00\x00\x02\x01"), byte(minute))
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.ContainsFunc(u.requests, func(r string) bool {
		return strings.HasPrefix(r, "GET ") && strings.HasSuffix(r, "/blobs/"+string(oci.DigestOf(module)))
	})
}

func TestNoByteOfAnUntrustedModuleIsRead(t *testing.T) {
	u := newUser(t)
	first := u.publish("1", 1)
	for name, do := range map[string]func(){
		"unsigned":                 func() {},
		"signed by another":        func() { u.attach("1", first, first, "eve") },
		"a signature from another": func() { u.attach("1", first, u.publish("2", 2, "ada"), "ada") },
	} {
		do()
		if _, err := u.get(":1", true, false); !errors.Is(err, registry.ErrUntrusted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if u.read(1) {
		t.Error("a refused module was fetched")
	}
	u.attach("1", first, first, "ada")
	p, err := u.get(":1", true, false)
	if err != nil || p.Verified.SignerNames() != "ada" || !u.read(1) {
		t.Errorf("once it is signed: %+v, %v", p, err)
	}
}

func TestStoredProvidersAreVerifiedAgain(t *testing.T) {
	u := newUser(t)
	u.publish("1", 1, "ada")
	if _, err := u.get(":1", true, false); err != nil {
		t.Fatal(err)
	}
	if p, err := u.get(":1", false, false); err != nil || !p.Verified.Signed {
		t.Errorf("without the registry: %v, %v", p, err)
	}
	trusted := u.policy
	dir := t.TempDir()
	u.policy, _ = registry.RequireKeys(newPublisher(t, dir, "ben").PublicKey())
	for _, online := range []bool{false, true} {
		if _, err := u.get(":1", online, false); !errors.Is(err, registry.ErrUntrusted) {
			t.Errorf("by a policy of today, online %v: %v", online, err)
		}
	}
	u.policy = trusted
	bundles, err := filepath.Glob(filepath.Join(u.store.Dir(), "blobs", "sha256", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range bundles { // all bundles are changed on the disk
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte("dsseEnvelope")) {
			changed := bytes.Replace(text, []byte(`"sig":"ME`), []byte(`"sig":"MD`), 1)
			err = errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, changed, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if p, err := u.get(":1", false, false); err == nil {
		t.Errorf("with a changed signature on the disk: %+v", p.Verified)
	}
}

func TestACorruptModuleIsFetchedAgain(t *testing.T) {
	u := newUser(t)
	u.publish("1", 1, "ada")
	p, err := u.get(":1", true, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(p.File, 0o600), os.WriteFile(p.File, []byte("of its size!"), 0o600)); err != nil {
		t.Fatal(err)
	}
	var corrupt *registry.CorruptError
	if _, err := u.get(":1", true, false); !errors.As(err, &corrupt) || corrupt.File != p.File {
		t.Errorf("got %v", err)
	}
	if _, err := u.get(":1", false, false); !errors.Is(err, registry.ErrNotFound) || !strings.Contains(err.Error(), "wasmres pull") {
		t.Errorf("without the registry: %v", err)
	}
	if again, err := u.get(":1", true, false); err != nil || !again.Fetched || again.Module.Digest != p.Module.Digest {
		t.Errorf("with the registry: %+v, %v", again, err)
	}
	if again, err := u.get(":1", false, false); err != nil || again.Fetched {
		t.Errorf("once more: %+v, %v", again, err)
	}
}

// A tag in the store stays what it was, and may be older than others. The registry may not say an older one.
func TestTheRegistryCannotGoBack(t *testing.T) {
	u := newUser(t)
	older := u.publish("1", 1, "ada")
	if _, err := u.get(":1", true, false); err != nil {
		t.Fatal(err)
	}
	u.publish("2", 2, "ada")
	if _, err := u.get(":2", true, false); err != nil {
		t.Fatal(err)
	}
	if _, err := u.get(":1", true, false); err != nil {
		t.Errorf("an older version in the store: %v", err)
	}
	if _, err := u.get("@"+string(older.Digest), true, false); err != nil {
		t.Errorf("an older version by its digest: %v", err)
	}
	u.publish("2", 1, "ada") // the registry goes back
	if _, err := u.get(":2", true, true); !errors.Is(err, registry.ErrDowngrade) {
		t.Errorf("the registry goes back: %v", err)
	}
	if p, err := u.get(":2", true, false); err != nil || p.Manifest.Digest == older.Digest {
		t.Errorf("what the tag names in the store: %v", err)
	}
	u.publish("3", 1, "ada")
	if _, err := u.get(":3", true, false); !errors.Is(err, registry.ErrDowngrade) {
		t.Errorf("an old version under a new tag: %v", err)
	}
}

// A reference with a digest says nothing about its tag: the registry alone does.
func TestADigestNamesNoTag(t *testing.T) {
	u := newUser(t)
	older := u.publish("1", 1, "ada")
	newer := u.publish("1", 2, "ada")
	if _, err := u.get(":1@"+string(older.Digest), true, false); err != nil {
		t.Fatal(err)
	}
	for _, online := range []bool{true, false} {
		if p, err := u.get(":1", online, false); err != nil || p.Manifest.Digest != newer.Digest {
			t.Errorf("the tag, online %v: %+v, %v", online, p, err)
		}
		if p, err := u.get(":1@"+string(older.Digest), online, true); err != nil || p.Manifest.Digest != older.Digest {
			t.Errorf("the digest, online %v: %+v, %v", online, p, err)
		}
	}
}

// Another process prunes the store, and keeps nothing however new it is, while a provider is pulled.
func TestAPullSurvivesAPrune(t *testing.T) {
	u := newUser(t)
	u.publish("1", 1, "ada")
	pruned := 0
	g := &registry.Getter{Store: u.store, Client: u.client, Verifier: registry.NewVerifier(u.policy, registry.VerifierOptions{})}
	p, err := g.Get(t.Context(), reference(t, u.host+"/notes:1"), registry.GetOptions{Progress: func(p registry.Progress) {
		if pruned > 0 || p.Descriptor.MediaType == oci.ModuleType {
			return // the module is stored before the configuration
		}
		result, err := u.store.Prune(t.Context(), registry.PruneOptions{Grace: time.Nanosecond})
		if err != nil {
			t.Error(err)
		}
		pruned = result.Files
	}})
	if err != nil || pruned == 0 {
		t.Fatalf("%d files were removed, %v", pruned, err)
	}
	p.Release()
}
