package remote

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// helperTime bounds one run of a credential helper.
const helperTime = time.Minute

// Credentials are those in docker's config.json, and in the credential helpers that it names.
type Credentials struct{ file string }

// DockerCredentials returns those of config.json in dir. An empty dir is $DOCKER_CONFIG, else ~/.docker. The file is read when
// a registry asks for credentials; it need not exist.
func DockerCredentials(dir string) (*Credentials, error) {
	if dir == "" {
		dir = os.Getenv("DOCKER_CONFIG")
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find docker's config.json: %w: set DOCKER_CONFIG", err)
		}
		dir = filepath.Join(home, ".docker")
	}
	file := filepath.Join(dir, "config.json")
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target // a login replaces the file, not the link
	}
	return &Credentials{file: file}, nil
}

// open reads the file. Its errors do not quote the file, which has passwords.
func (c *Credentials) open() (*credentials.DynamicStore, error) {
	store, err := credentials.NewStore(c.file, credentials.StoreOptions{AllowPlaintextPut: true, DetectDefaultNativeStore: true})
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return nil, fmt.Errorf("read credentials: %w", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read credentials: %s is no JSON of docker's configuration: repair or remove it", c.file)
	}
	return store, nil
}

// credential finds what the registry gets for user and password.
func (e *endpoint) credential(ctx context.Context, hostport string) (auth.Credential, error) {
	if e.options.Credentials == nil || !e.mayLogIn() {
		return auth.EmptyCredential, nil
	}
	store, err := e.options.Credentials.open()
	if err != nil {
		return auth.EmptyCredential, &credentialsError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	found, err := await(ctx, func() (auth.Credential, error) { return credentials.Credential(store)(ctx, hostport) })
	if err != nil {
		return auth.EmptyCredential, &credentialsError{fmt.Errorf("the entry of %s in %s, or its credential helper, is broken: "+
			"wasmres login %[1]s writes it again", e.host, e.options.Credentials.file)}
	}
	e.secrets.noteCredential(found)
	return found, nil
}

// mayLogIn reports whether the credentials of the registry may be used.
func (e *endpoint) mayLogIn() bool {
	return e.options.CredentialsOf == nil || e.options.CredentialsOf(e.host)
}

type none struct{}

// await returns the result of run, which may run a credential helper, or the cause of ctx when that ends. The end of ctx kills the
// helper; run itself goes on as long as a process that the helper has started holds its standard output.
func await[T any](ctx context.Context, run func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := run()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
}

// A credentialsError says why no credentials were found. Its text has no secrets.
type credentialsError struct{ err error }

func (c *credentialsError) Error() string { return c.err.Error() }

// Login asks a registry whether a user may come in with a password, and saves both in docker's config.json, or in the
// credential helper that it names.
func (c *Client) Login(ctx context.Context, host, user, password string) error {
	if c.options.Credentials == nil {
		return errors.New("log in: the client has no credentials to add to")
	}
	if err := checkHost(host); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	if user == "" || password == "" || strings.Contains(user, ":") {
		return fmt.Errorf("log in to %s: a user without a colon and a password are required", host)
	}
	store, err := c.options.Credentials.open()
	if err != nil {
		return fmt.Errorf("log in to %s: %w", host, err)
	}
	cred := auth.Credential{Username: user, Password: password}
	server := newEndpoint(host, &c.options, nil)
	defer server.transport.CloseIdleConnections()
	server.secrets.noteCredential(cred)
	plain, err := server.isPlain(ctx)
	if err != nil {
		return server.explain(ctx, "log in to "+host, err)
	}
	reg := &remote.Registry{RepositoryOptions: remote.RepositoryOptions{
		Client: server.newClient(nil), Reference: registry.Reference{Registry: host}, PlainHTTP: plain,
	}}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	if _, err := await(ctx, func() (none, error) { return none{}, credentials.Login(ctx, store, reg, cred) }); err != nil {
		return server.explain(ctx, "log in to "+host, err)
	}
	c.forget(host)
	return nil
}

// checkHost refuses what is not the host of a registry, as a URL.
func checkHost(host string) error {
	if ref, err := oci.ParseReference(host + "/x"); err != nil || ref.Registry != host {
		return fmt.Errorf("%.100q is not the host of a registry: write it as ghcr.io or localhost:5000", host)
	}
	return nil
}

// Logout removes the credentials of a registry, if there are some.
func (c *Client) Logout(ctx context.Context, host string) error {
	if c.options.Credentials == nil {
		return errors.New("log out: the client has no credentials to remove from")
	}
	if err := checkHost(host); err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	store, err := c.options.Credentials.open()
	if err != nil {
		return fmt.Errorf("log out of %s: %w", host, err)
	}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	if _, err := await(ctx, func() (none, error) { return none{}, credentials.Logout(ctx, store, host) }); err != nil {
		return fmt.Errorf("log out of %s: remove its entry from %s: %s", host, c.options.Credentials.file, clip(err.Error()))
	}
	c.forget(host)
	return nil
}

// secrets are what was sent to a registry to authenticate, so that messages do not repeat it. They are the newest ones.
type secrets struct {
	mu     sync.Mutex
	values []string
}

const (
	maxSecrets = 64
	minSecret  = 3 // bytes; a shorter one would be found everywhere
)

// note adds the value of a header Authorization.
func (s *secrets) note(authorization string) {
	_, value, ok := strings.Cut(authorization, " ")
	if !ok {
		return
	}
	s.add(value)
	if pair, err := base64.StdEncoding.DecodeString(value); err == nil {
		if _, password, ok := strings.Cut(string(pair), ":"); ok {
			s.add(password)
		}
	}
}

func (s *secrets) noteCredential(c auth.Credential) {
	s.add(c.Password)
	s.add(c.RefreshToken)
	s.add(c.AccessToken)
	s.add(base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password)))
}

func (s *secrets) add(value string) {
	if len(value) < minSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.values, value) {
		return
	}
	if len(s.values) == maxSecrets {
		s.values = slices.Delete(s.values, 0, 1)
	}
	s.values = append(s.values, value)
}

// redact replaces the secrets in a text.
func (s *secrets) redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range s.values {
		text = strings.ReplaceAll(text, value, "…")
		text = strings.ReplaceAll(text, url.QueryEscape(value), "…")
	}
	return text
}

// maxQuote bounds what is quoted of a registry, in bytes.
const maxQuote = 300

// clip makes a foreign text one short line.
func clip(text string) string {
	text = printable.Line(text)
	if len(text) <= maxQuote {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuote], "") + "…"
}
