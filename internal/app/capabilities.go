package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/sqlitekv"
	"github.com/wasmres/wasmres/runtime/capability/secret"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// envKey begins the configuration keys by which guests read variables of the host's environment.
const envKey = "env:"

// grants are all granted capabilities of a provider, as one.
type grants struct {
	services capability.Services
	feeds    []func(context.Context) (capability.Feed, error)
	opened   []capability.Capability // in the order of opening
}

// Services implements [capability.Capability].
func (g *grants) Services() capability.Services { return g.services }

// Feeds implements [capability.Feeder].
func (g *grants) Feeds() []func(context.Context) (capability.Feed, error) { return g.feeds }

// Close implements [capability.Capability]. It closes all capabilities at once: the caller bounds the time of all.
func (g *grants) Close() error {
	errs := make([]error, len(g.opened))
	var closing sync.WaitGroup
	for i, c := range g.opened {
		closing.Go(func() { errs[i] = c.Close() })
	}
	closing.Wait()
	return errors.Join(errs...)
}

// add adds a capability, which Close then closes.
func (g *grants) add(c capability.Capability) {
	g.opened = append(g.opened, c)
	maps.Copy(g.services, c.Services())
	if f, ok := c.(capability.Feeder); ok {
		g.feeds = append(g.feeds, f.Feeds()...)
	}
}

// openCapabilities opens what is granted. Denied calls are reported.
func (a *App) openCapabilities(ctx context.Context) (*grants, error) {
	g := &grants{services: capability.Services{abi.ServiceConfig: capability.Config(a.values())}}
	for _, open := range []func(context.Context) (capability.Capability, error){a.openFiles, a.openHTTP, a.openSQL, a.openKV} {
		c, err := open(ctx)
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
		if c != nil {
			g.add(c)
		}
	}
	g.services = a.reportingServices(g.services)
	if a.cfg.ReplaceServices == nil {
		return g, nil
	}
	replaced, err := a.cfg.ReplaceServices(g.services)
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.services, g.feeds = replaced, nil // the guest may not see the granted folders at all
	return g, nil
}

// values returns what the provider may read by a key: its configuration, and variables of the environment.
func (a *App) values() map[string]string {
	values := map[string]string{}
	maps.Copy(values, a.cfg.Grants.Config)
	for _, name := range a.cfg.Grants.Environment {
		if value, ok := os.LookupEnv(name); ok {
			values[envKey+name] = value
		}
	}
	return values
}

// opened returns a capability, or nil with the error for which it was not opened.
func opened[C capability.Capability](c C, err error) (capability.Capability, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// accesses gives the access of the capability for that of policies.
var accesses = map[policy.Access]fscap.Access{
	policy.Read: fscap.ReadOnly, policy.Write: fscap.WriteOnly, policy.Read | policy.Write: fscap.ReadWrite,
}

func (a *App) openFiles(context.Context) (capability.Capability, error) {
	var grants []fscap.Grant
	for _, s := range a.cfg.Grants.Storage {
		grants = append(grants, fscap.Grant{
			Host: s.Host, Guest: s.Guest, Access: accesses[s.Access],
			MaxBytes: int64(cmp.Or(s.MaxBytes, policy.DefaultMaxBytes)),
			MaxFiles: int64(cmp.Or(s.MaxFiles, policy.DefaultMaxFiles)),
		})
	}
	if len(grants) == 0 {
		return nil, nil
	}
	return opened(fscap.Open(grants, a.audit))
}

func (a *App) openHTTP(ctx context.Context) (capability.Capability, error) {
	if len(a.cfg.Grants.Network) == 0 {
		return nil, nil
	}
	sources := SecretSources(a.cfg.Grants.Secrets, a.cfg.Sealed)
	secrets, err := await(ctx, func() (*secret.Store, error) { return secret.Open(sources) })
	if err != nil {
		return nil, err
	}
	for _, value := range secrets.Values() {
		a.noteSecret(value.Reveal())
	}
	return opened(httpcap.Open(httpcap.Config{Rules: HTTPRules(a.cfg.Grants.Network), Secrets: secrets, Observe: a.audit}))
}

// await runs ask, which may wait for the user, as for the password of a keyring, and gives its result, or the error of ctx
// if that ends first.
func await[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		value, err := ask()
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// HTTPRules returns the rules of a policy for the capability: one for each scheme.
func HTTPRules(rules []policy.Network) (all []httpcap.Rule) {
	for _, n := range rules {
		schemes := n.Schemes
		if len(schemes) == 0 {
			schemes = []string{"https"}
		}
		for _, scheme := range schemes {
			all = append(all, httpcap.Rule{
				Scheme: scheme, Host: n.Host, Ports: n.Ports, Methods: n.Methods, Paths: n.Paths, Private: n.Private, Secrets: n.Secrets,
			})
		}
	}
	return all
}

// A sealedSource is a secret that a server keeps sealed.
type sealedSource struct {
	name string
	open func(name string) (secret.Value, error) // nil where there is no such server
}

// Secret implements [secret.Source].
func (s sealedSource) Secret() (secret.Value, error) {
	if s.open == nil {
		return secret.Value{}, errors.New("only 'wasmres serve' keeps sealed secrets: name another source in the policy, as a variable or a file")
	}
	return s.open(s.name)
}

// SecretSources returns the sources of the secrets of a policy, by name. sealed opens those that a server keeps; nil refuses them.
func SecretSources(secrets []policy.Secret, sealed func(name string) (secret.Value, error)) map[string]secret.Source {
	sources := map[string]secret.Source{}
	for _, s := range secrets {
		switch {
		case s.Env != "":
			sources[s.Name] = secret.Env(s.Env)
		case s.File != "":
			sources[s.Name] = secret.File(s.File)
		case s.Sealed != "":
			sources[s.Name] = sealedSource{s.Sealed, sealed}
		default:
			service, user, _ := strings.Cut(s.Keyring, "/")
			sources[s.Name] = secret.Keyring{Service: service, User: user}
		}
	}
	return sources
}

func (a *App) openSQL(ctx context.Context) (capability.Capability, error) {
	if len(a.cfg.Grants.SQL) == 0 {
		return nil, nil
	}
	connections := map[string]sqlcap.Connection{}
	for _, s := range a.cfg.Grants.SQL {
		value, err := await(ctx, func() (secret.Value, error) { return a.dsnOf(s) })
		var dsn sqlcap.DSN
		if err == nil {
			a.noteDSN(value.Reveal())
			dsn, err = sqlcap.ParseDSN(value.Reveal())
		}
		if err != nil {
			return nil, fmt.Errorf("sql connection %s: %w", s.Name, err)
		}
		connections[s.Name] = sqlcap.Connection{
			DSN: dsn, Privileged: s.Privileged, Foreign: s.DSNSealed != "", Private: s.Private,
			Limits: sqlcap.Limits{Timeout: s.Timeout, Rows: s.MaxRows, Bytes: s.MaxBytes},
		}
	}
	return opened(sqlcap.Open(sqlcap.Config{Connections: connections, Logger: a.cfg.Logger}, a.audit))
}

// dsnOf returns the address of a database. Its errors do not contain it.
func (a *App) dsnOf(s policy.SQL) (secret.Value, error) {
	switch {
	case s.DSNSealed != "":
		return sealedSource{s.DSNSealed, a.cfg.Sealed}.Secret()
	case s.DSNEnv != "":
		return secret.Env(s.DSNEnv).Secret()
	case s.DSNFile != "":
		return secret.File(s.DSNFile).Secret()
	}
	return secret.New(s.DSN), nil
}

func (a *App) openKV(ctx context.Context) (capability.Capability, error) {
	grant := a.cfg.Grants.KV
	if grant == nil {
		return nil, nil
	}
	store, err := a.openStore(ctx, grant)
	if err != nil {
		return nil, err
	}
	return kvcap.Open(store, kvcap.Grant{ReadOnly: grant.ReadOnly}, a.audit), nil
}

// openStore opens the key-value store: that of the granted namespace, or of the provider's file, which no other provider can
// choose.
func (a *App) openStore(ctx context.Context, grant *policy.KV) (kvcap.Store, error) {
	quota := kvcap.Quota{MaxKeys: int(grant.MaxKeys), MaxBytes: int64(grant.MaxBytes), MaxValue: int(grant.MaxValue)}
	if a.cfg.DataDir == "" {
		return nil, errors.New("open key-value store: no data directory: set --data-dir or XDG_STATE_HOME")
	}
	file, err := a.cfg.From.Origin(a.cfg.File)
	if err != nil {
		return nil, fmt.Errorf("open key-value store: %w", err)
	}
	if len(file) > kvcap.MaxNamespace {
		sum := sha256.Sum256([]byte(file))
		file = "sha256:" + hex.EncodeToString(sum[:])
	}
	return sqlitekv.Open(ctx, sqlitekv.Config{
		Dir: filepath.Join(a.cfg.DataDir, "kv"), Namespace: kvcap.Namespace{Provider: cmp.Or(grant.Namespace, file)}, Quota: quota,
	})
}
