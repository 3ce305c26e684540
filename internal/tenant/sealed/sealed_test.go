package sealed_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/childtest"
	"github.com/wasmres/wasmres/internal/seal"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/sealed"
	"github.com/wasmres/wasmres/internal/tenant/store"
)

var everyStep = flag.Int("every", 4, "a process is killed at each so many of its steps")

func TestMain(m *testing.M) {
	if childtest.Role() != "rotate" {
		os.Exit(m.Run())
	}
	if err := rotate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A server has a store and a key file, and may be killed.
type server struct {
	*store.Store
	*sealed.Keeper
	dir, file string
}

func begin(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, file: filepath.Join(dir, "secrets.key")}
	if err := seal.New().WriteNew(s.file); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Apply(t.Context(), tenant.Change{Owner: tenant.OwnerAPI, SetTenants: []*tenant.Tenant{
		{ID: "acme", Owner: tenant.OwnerAPI}, {ID: "beta", Owner: tenant.OwnerAPI},
	}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) open(t *testing.T) {
	t.Helper()
	var err error
	if s.Store, err = store.Open(context.Background(), store.Config{Dir: s.dir}); err != nil {
		t.Fatal(err)
	}
	if s.Keeper, err = sealed.Open(s.file, s.Store, time.Now); err != nil {
		t.Fatal(err)
	}
}

func (s *server) reopen(t *testing.T) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(t)
}

func (s *server) set(t *testing.T, tenantID, name, value string) {
	t.Helper()
	if _, err := s.SetSecret(t.Context(), "test", tenantID, name, []byte(value), 0); err != nil {
		t.Fatal(err)
	}
}

func (s *server) check(t *testing.T, tenantID, name, want string) {
	t.Helper()
	if got, err := s.Secret(tenantID, name); err != nil || got.Reveal() != want {
		t.Errorf("%s/%s is %q, %v, want %q", tenantID, name, got.Reveal(), err, want)
	}
}

func TestSecrets(t *testing.T) {
	s := begin(t)
	s.set(t, "acme", "token", "s3cret-of-acme")
	s.set(t, "beta", "token", "s3cret-of-beta")
	s.reopen(t)
	s.check(t, "acme", "token", "s3cret-of-acme")
	s.check(t, "beta", "token", "s3cret-of-beta")
	if _, err := s.Secret("acme", "other"); err == nil || !strings.Contains(err.Error(), "wasmres secret set acme other") {
		t.Errorf("got %v", err)
	}
	// The sealed value of one tenant is of no use to another.
	theirs := *s.Snapshot().Secrets[tenant.SecretID{Tenant: "beta", Name: "token"}]
	theirs.Tenant = "acme"
	if _, err := s.Apply(t.Context(), tenant.Change{SetSecrets: []*tenant.Secret{&theirs}}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Secret("acme", "token"); !errors.Is(err, seal.ErrDamaged) {
		t.Errorf("got %q, %v", got.Reveal(), err)
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "serve.db*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "s3cret-of") {
			t.Errorf("%s has a secret in it, %v", file, err)
		}
	}
}

func TestNoKey(t *testing.T) {
	s := begin(t)
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	k, err := sealed.Open("", s.Store, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.SetSecret(t.Context(), "test", "acme", "token", []byte("x"), 0); !errors.Is(err, tenant.ErrInvalid) || !strings.Contains(err.Error(), "wasmres secret new-key FILE") {
		t.Errorf("got %v", err)
	}
	if _, _, err := k.RotateSecretKey(t.Context(), "test"); !errors.Is(err, tenant.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(s.file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := sealed.Open(s.file, s.Store, time.Now); err == nil || !strings.Contains(err.Error(), "other users can read") {
		t.Errorf("got %v", err)
	}
	if _, err := sealed.Open(filepath.Join(s.dir, "none"), s.Store, time.Now); err == nil {
		t.Error("a key that is missing is no error")
	}
}

// A credential of systemd is read, and never written: the operator replaces it.
func TestACredential(t *testing.T) {
	s := begin(t)
	s.set(t, "acme", "token", "a")
	dir := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	old, err := seal.Read(s.file)
	if err != nil {
		t.Fatal(err)
	}
	credential := filepath.Join(dir, sealed.Credential)
	if err := old.With(seal.New()).Write(credential); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(credential)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(credential, 0o440); err != nil { // as systemd has it
		t.Fatal(err)
	}
	s.file = ""
	s.reopen(t)
	s.check(t, "acme", "token", "a")
	if count, remaining, err := s.RotateSecretKey(t.Context(), "test"); err != nil || count != 1 || remaining != 1 {
		t.Errorf("got %d, %d, %v", count, remaining, err)
	}
	if is, err := os.ReadFile(credential); err != nil || string(is) != string(was) {
		t.Errorf("the credential was written: %v", err)
	}
	if count, _, err := s.RotateSecretKey(t.Context(), "test"); err != nil || count != 0 {
		t.Errorf("got %d, %v", count, err)
	}
}

// some are the secrets that a rotation seals anew: as many bytes as two changes have.
func some() (all []*tenant.Secret) {
	for i := range 300 {
		all = append(all, &tenant.Secret{Tenant: fmt.Sprintf("t%d", i%7), Name: fmt.Sprintf("n%d", i), Changed: time.Unix(1, 0).UTC()})
	}
	return all
}

// valueOf returns the value of one of them.
func valueOf(s *tenant.Secret, size int) string { return s.Name + strings.Repeat("x", size) }

// fill stores some secrets, each with so many bytes, and returns the keys that seal them.
func (s *server) fill(t *testing.T, size int) *seal.Keys {
	t.Helper()
	var c tenant.Change
	c.Owner = tenant.OwnerAPI
	for i := range 7 {
		c.SetTenants = append(c.SetTenants, &tenant.Tenant{ID: fmt.Sprintf("t%d", i), Owner: tenant.OwnerAPI})
	}
	if _, err := s.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	old, err := seal.Read(s.file)
	if err != nil {
		t.Fatal(err)
	}
	all := some()
	for _, one := range all {
		if one.Sealed, err = old.Seal([]byte(valueOf(one, size)), "wasmres secret", one.Tenant, one.Name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Apply(t.Context(), tenant.Change{SetSecrets: all}); err != nil {
		t.Fatal(err)
	}
	return old
}

// checkRotation opens a server, ends a rotation that was interrupted, and checks all secrets before and after.
func (s *server) checkRotation(t *testing.T, old *seal.Keys, size int) {
	t.Helper()
	s.open(t)
	check := func() {
		t.Helper()
		for _, one := range some() {
			s.check(t, one.Tenant, one.Name, valueOf(one, size))
		}
	}
	check()
	if _, _, err := s.RotateSecretKey(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	s.reopen(t)
	check()
	now, err := seal.Read(s.file)
	if err != nil || now.Len() != 1 {
		t.Errorf("the file has %v, %v", now, err)
	}
	for _, one := range s.Snapshot().Secrets {
		if _, err := old.Open(one.Sealed, "wasmres secret", one.Tenant, one.Name); err == nil {
			t.Fatal("the old key opens a secret")
		}
		if !one.Changed.Equal(time.Unix(1, 0)) {
			t.Fatal("a rotation is a change of the secret")
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// counted is a store that counts changes, and fails after some.
type counted struct {
	*store.Store
	left int
}

func (k *counted) Apply(ctx context.Context, c tenant.Change) (uint64, error) {
	if k.left--; k.left < 0 {
		return 0, errors.New("enough")
	}
	return k.Store.Apply(ctx, c)
}

// Secrets of more bytes than one change may have are sealed anew by two, and a rotation that ends between them is not lost.
func TestARotationOfTwoChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("it seals megabytes")
	}
	const size = 16_000
	s := begin(t)
	old := s.fill(t, size)
	k, err := sealed.Open(s.file, &counted{s.Store, 1}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if count, _, err := k.RotateSecretKey(t.Context(), "test"); err == nil || count == 0 || count == len(some()) {
		t.Fatalf("got %d, %v", count, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.checkRotation(t, old, size)
}

// rotate replaces the key of a server in a folder.
func rotate(dir string) error {
	s, err := store.Open(context.Background(), store.Config{Dir: dir})
	if err != nil {
		return err
	}
	k, err := sealed.Open(filepath.Join(dir, "secrets.key"), s, time.Now)
	if err == nil {
		_, _, err = k.RotateSecretKey(context.Background(), "test")
	}
	return errors.Join(err, s.Close())
}

// A server that is killed before any of its changes of a file opens all secrets afterwards, by the old key or the new one, and ends the
// rotation when it is asked again.
func TestARotationThatIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a process for each step")
	}
	s := begin(t)
	old := s.fill(t, 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	every := *everyStep
	if testing.Short() {
		every = 24
	}
	states := map[int]int{} // how many children left so many keys
	prepare := func() string {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return errors.Join(err, os.Chmod(name, 0o700))
			}
			return os.Chmod(name, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	kills := childtest.KillAtEachStep(t, "rotate", every, prepare, func(dir, step string) {
		keys, err := seal.Read(filepath.Join(dir, "secrets.key"))
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		states[keys.Len()]++
		next := &server{dir: dir, file: filepath.Join(dir, "secrets.key")}
		next.checkRotation(t, old, 10)
		if t.Failed() {
			t.Fatalf("killed at %s", step)
		}
	})
	if states[1] == 0 || states[2] == 0 {
		t.Errorf("of %d children, %v left so many keys", kills, states)
	}
	t.Logf("%d children were killed: %v", kills, states)
}

// Secrets are set and opened while the key is replaced, and none is lost.
func TestSecretsWhileTheKeyIsReplaced(t *testing.T) {
	s := begin(t)
	s.set(t, "acme", "fixed", "value")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 10 {
				if _, err := s.SetSecret(t.Context(), "test", "acme", fmt.Sprintf("n%d", i), fmt.Appendf(nil, "v%d", j), 0); err != nil {
					t.Error(err)
				}
				s.check(t, "acme", "fixed", "value")
			}
		})
	}
	all.Go(func() {
		for range 5 {
			if _, _, err := s.RotateSecretKey(t.Context(), "test"); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	s.reopen(t)
	for i := range 4 {
		s.check(t, "acme", fmt.Sprintf("n%d", i), "v9")
	}
}
