package remote_test

import (
	"bytes"
	"context"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"crypto/x509"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/registryserver"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/registrytest"
	"github.com/wasmres/wasmres/registry/internal/remote"
	"github.com/wasmres/wasmres/registry/internal/transfer"
)

// module returns n bytes that begin as a module does.
func module(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	copy(b, "\x00asm\x01\x00\x00\x00")
	return b
}

func newClient(t testing.TB, o remote.Options) *remote.Client {
	t.Helper()
	c, err := remote.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func repository(t testing.TB, c *remote.Client, name string) *remote.Repository {
	t.Helper()
	ref, err := oci.ParseReference(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Repository(ref)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// startGo starts the registry of go-containerregistry.
func startGo(t testing.TB, api bool) (host string) {
	t.Helper()
	s := httptest.NewServer(ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)), ggcr.WithReferrersSupport(api)))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// exercise pushes, lists, signs, copies and pulls, as any registry must permit.
func exercise(t *testing.T, c *remote.Client, host string) {
	t.Helper()
	ctx := t.Context()
	var local, pulled registrytest.Memory
	p := local.Add(t, module(300_000), "1.0")
	notes := repository(t, c, host+"/ada/notes")
	if _, err := notes.Resolve(ctx, "1.0"); !errors.Is(err, oci.ErrNotFound) || !strings.Contains(err.Error(), host+"/ada/notes") {
		t.Errorf("what is not there: %v", err)
	}
	for _, tag := range []string{"1.0", "latest"} {
		if _, err := transfer.Copy(ctx, &local, "1.0", notes, tag, transfer.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := notes.Resolve(ctx, "1.0"); err != nil || d.Digest != p.Manifest.Digest || d.Size != p.Manifest.Size {
		t.Errorf("%+v, %v", d, err)
	}
	if found, err := notes.Referrers(ctx, p.Manifest); err != nil || len(found) != 0 {
		t.Errorf("unsigned: %v, %v", found, err)
	}
	for i := range 2 {
		if _, err := transfer.PushSignature(ctx, notes, fmt.Appendf(nil, `{"bundle":%d}`, i), p.Manifest); err != nil {
			t.Fatal(err)
		}
	}
	if tags, err := notes.Tags(ctx); err != nil || !slices.Equal(tags, []string{"1.0", "latest"}) {
		t.Errorf("%q, %v", tags, err)
	}
	// To another repository, and from there to memory.
	again := repository(t, c, host+"/bob/notes")
	if _, err := transfer.Copy(ctx, notes, string(p.Manifest.Digest), again, "2.0", transfer.Options{Signatures: true}); err != nil {
		t.Fatal(err)
	}
	var bundles [][]byte
	a, err := transfer.Copy(ctx, again, "2.0", &pulled, "2.0", transfer.Options{
		Signatures: true,
		Verify:     func(_ context.Context, a *transfer.Artifact) error { bundles = a.Bundles(); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(bundles, bytes.Compare)
	if a.Descriptor.Digest != p.Manifest.Digest || len(bundles) != 2 || string(bundles[1]) != `{"bundle":1}` {
		t.Errorf("%s with %q", a.Descriptor.Digest, bundles)
	}
	if !bytes.Equal(pulled.Bytes(p.Module.Digest), local.Bytes(p.Module.Digest)) {
		t.Error("other bytes came back")
	}
}

func TestDebianAnonymous(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a registry")
	}
	t.Parallel()
	host, dir := registryserver.Start(t, registryserver.Options{})
	c := newClient(t, remote.Options{})
	exercise(t, c, host)
	t.Run("a layer that was changed on its disk", func(t *testing.T) {
		p := tamper(t, dir, module(300_000))
		var pulled registrytest.Memory
		_, err := transfer.Copy(t.Context(), repository(t, c, host+"/ada/notes"), "1.0", &pulled, "1.0", transfer.Options{})
		mismatch := (*oci.MismatchError)(nil)
		if !errors.As(err, &mismatch) || mismatch.Want != p || pulled.Len() != 0 {
			t.Errorf("%v, %d blobs", err, pulled.Len())
		}
	})
}

// tamper changes the file of a blob in the folder of a registry.
func tamper(t *testing.T, dir string, b []byte) oci.Digest {
	t.Helper()
	d := oci.DigestOf(b)
	hex := d.Encoded()
	file := filepath.Join(dir, "docker/registry/v2/blobs/sha256", hex[:2], hex, "data")
	evil := bytes.Clone(b)
	evil[len(evil)-1]++
	if err := os.WriteFile(file, evil, 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDebianWithTLSAndPasswords(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a registry")
	}
	t.Parallel()
	authority := certtest.NewAuthority(t)
	dir := t.TempDir()
	cert, key, htpasswd := filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem"), filepath.Join(dir, "htpasswd")
	certtest.Write(t, authority.Issue(t, &x509.Certificate{Subject: pkix.Name{CommonName: "registry"}}), cert, key)
	// The bcrypt hash, of cost 5, of "correct horse".
	const line = "ada:$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2\n"
	if err := os.WriteFile(htpasswd, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	host, _ := registryserver.Start(t, registryserver.Options{Cert: cert, Key: key, Htpasswd: htpasswd})
	docker := t.TempDir()
	creds, err := remote.DockerCredentials(docker)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()

	strange := newClient(t, remote.Options{Credentials: creds})
	if _, err := repository(t, strange, host+"/a").Tags(ctx); err == nil || !strings.Contains(err.Error(), "authority") {
		t.Errorf("an unknown authority: %v", err)
	}
	c := newClient(t, remote.Options{Credentials: creds, Authorities: authority.Pool()})
	if _, err := repository(t, c, host+"/a").Tags(ctx); !errors.Is(err, oci.ErrUnauthorized) {
		t.Errorf("without a login: %v", err)
	}
	if err := c.Login(ctx, host, "ada", "wrong password"); !errors.Is(err, oci.ErrUnauthorized) || strings.Contains(err.Error(), "wrong password") {
		t.Errorf("with a wrong password: %v", err)
	}
	if err := c.Login(ctx, host, "ada", "correct horse"); err != nil {
		t.Fatal(err)
	}
	exercise(t, c, host)
	if err := c.Logout(ctx, host); err != nil {
		t.Fatal(err)
	}
	if _, err := repository(t, c, host+"/ada/notes").Tags(ctx); !errors.Is(err, oci.ErrUnauthorized) {
		t.Errorf("after the logout: %v", err)
	}
	config, err := os.ReadFile(filepath.Join(docker, "config.json"))
	if err != nil || strings.Contains(string(config), host) {
		t.Errorf("%s, %v", config, err)
	}
}

func TestGoRegistry(t *testing.T) {
	t.Parallel()
	for name, api := range map[string]bool{"with referrers": true, "without": false} {
		t.Run(name, func(t *testing.T) { exercise(t, newClient(t, remote.Options{}), startGo(t, api)) })
	}
}

func TestConcurrentSignaturesAreAllListed(t *testing.T) {
	t.Parallel()
	t.Run("Go's registry", func(t *testing.T) { signAtOnce(t, startGo(t, false)) })
	t.Run("Debian's registry", func(t *testing.T) {
		host, _ := registryserver.Start(t, registryserver.Options{})
		signAtOnce(t, host)
	})
}

// signAtOnce has several clients store signatures about one manifest.
func signAtOnce(t *testing.T, host string) {
	var local registrytest.Memory
	p := local.Add(t, module(1000), "1.0")
	if _, err := transfer.Copy(t.Context(), &local, "1.0", repository(t, newClient(t, remote.Options{}), host+"/n"), "1.0", transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	const clients = 6
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			r := repository(t, newClient(t, remote.Options{}), host+"/n")
			if _, err := transfer.PushSignature(t.Context(), r, fmt.Append(nil, "bundle ", i), p.Manifest); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	found, err := repository(t, newClient(t, remote.Options{}), host+"/n").Referrers(t.Context(), p.Manifest)
	if err != nil || len(found) != clients {
		t.Errorf("%d of %d signatures are listed, %v", len(found), clients, err)
	}
}

func TestCredentialHelpers(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	const helper = "#!/bin/sh\n[ \"$1\" = get ] && echo '{\"ServerURL\":\"x\",\"Username\":\"ada\",\"Secret\":\"from the helper\"}'\n"
	if err := os.WriteFile(filepath.Join(dir, "docker-credential-test"), []byte(helper), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"credsStore":"test"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	creds, err := remote.DockerCredentials(dir)
	if err != nil {
		t.Fatal(err)
	}
	var seen string
	s := startHostile(t, func(h *hostile) {
		h.authorize = func(user, password string) bool { seen = user + ":" + password; return true }
	})
	if _, err := repository(t, newClient(t, remote.Options{Credentials: creds}), s.host+"/n").Resolve(t.Context(), "1.0"); err != nil {
		t.Fatal(err)
	}
	if seen != "ada:from the helper" {
		t.Error(seen)
	}
}

// A helper is killed when its time ends, but not what it has started, which may hold its output for ever.
func TestAHelperThatLeavesAProcessDoesNotHoldTheCaller(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Skipf("no pipe with a name: %v %s", err, out)
	}
	helper := "#!/bin/sh\ncat " + fifo + "\ntrue\n"
	if err := os.WriteFile(filepath.Join(dir, "docker-credential-test"), []byte(helper), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"credsStore":"test"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	creds, err := remote.DockerCredentials(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := startHostile(t, func(h *hostile) { h.authorize = func(string, string) bool { return true } })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	returned := make(chan struct{})
	wg.Go(func() {
		held, err := os.OpenFile(fifo, os.O_WRONLY, 0) // once cat reads it
		cancel()
		<-returned
		if err != nil {
			t.Error(err)
			return
		}
		_ = held.Close()
	})
	if _, err := repository(t, newClient(t, remote.Options{Credentials: creds}), s.host+"/n").Resolve(ctx, "1.0"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(returned)
	wg.Wait()
}
