package references

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/registry"
)

// Flags returns the flags of a command that takes references of providers.
func Flags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.BoolFlag{Name: "update", Category: cli.CategoryRegistries, Usage: "ask the registry what the tag names today, and show what differs from the version in the store"},
		StoreFlag(),
	}, TrustFlags(), ClientFlags())
}

// StoreFlag returns the flag --store: see [OpenStore].
func StoreFlag() cli.Flag {
	return &cli.StringFlag{Name: "store", Category: cli.CategoryRegistries, EnvVars: []string{"WASMRES_STORE"}, Usage: "store modules in this `FOLDER`, which must be private to you (default: wasmres/store in the user's data folder)"}
}

// TrustFlags returns the flags of [OpenVerifier].
func TrustFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "trust", Category: cli.CategoryRegistries, EnvVars: []string{"WASMRES_TRUST"}, Usage: "decide by this `FILE` whose signatures providers need (default: wasmres/trust.yaml in the user's configuration folder)"},
		&cli.BoolFlag{Name: "allow-downgrade", Category: cli.CategoryRegistries, Usage: "accept a provider that is older than one that was accepted before"},
	}
}

// ClientFlags returns the flags of [OpenClient].
func ClientFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "plain-http", Category: cli.CategoryRegistries, Usage: "reach the registry at this `HOST` by HTTP without TLS; registries on this machine need no flag; may be repeated"},
		&cli.StringFlag{Name: "registry-ca", Category: cli.CategoryRegistries, EnvVars: []string{"WASMRES_REGISTRY_CA"}, Usage: "also trust the authorities in this PEM `FILE` for registries"},
		&cli.StringSliceFlag{Name: "mirror", Category: cli.CategoryRegistries, EnvVars: []string{"WASMRES_MIRROR"}, Usage: "fetch what a registry has from a mirror first, as `HOST=MIRROR`; it need not be trusted; may be repeated"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: cli.CategoryRegistries, Usage: "show no progress of transfers"},
	}
}

// OpenStore opens the store of --store, and makes it if there is none.
func OpenStore(c *cli.Context) (*registry.Store, error) {
	dir := c.String("store")
	if dir == "" {
		var err error
		if dir, err = registry.DefaultStoreDir(); err != nil {
			return nil, fmt.Errorf("open the store of modules: %w: set --store", err)
		}
	}
	return registry.OpenStore(dir, registry.StoreOptions{})
}

// OpenVerifier returns what decides by the trust policy of --trust, or that of the user.
func OpenVerifier(c *cli.Context) (*registry.Verifier, error) {
	policy, err := trustPolicy(c)
	if err != nil {
		return nil, err
	}
	return NewVerifier(c, policy)
}

// NewVerifier returns what decides by a trust policy, and by what the user has accepted before.
func NewVerifier(c *cli.Context, policy *registry.TrustPolicy) (*registry.Verifier, error) {
	options := registry.VerifierOptions{AllowDowngrade: c.Bool("allow-downgrade")}
	settings, err := os.UserConfigDir()
	switch {
	case err == nil:
		options.State = filepath.Join(settings, "wasmres", "accepted")
	case c.String("trust") != "": // its rules need the versions that were accepted before
		return nil, fmt.Errorf("--trust: there is no folder for what was accepted: %w: set XDG_CONFIG_HOME", err)
	}
	return registry.NewVerifier(policy, options), nil
}

func trustPolicy(c *cli.Context) (*registry.TrustPolicy, error) {
	if file := c.String("trust"); file != "" {
		return registry.LoadPolicy(file)
	}
	return registry.DefaultPolicy()
}

// OpenClient returns a client of registries with the user's credentials.
func OpenClient(c *cli.Context) (*registry.Client, error) {
	return openClient(c, registry.ClientOptions{})
}

// openClient returns a client of registries with some options, and those of the flags.
func openClient(c *cli.Context, options registry.ClientOptions) (*registry.Client, error) {
	options.PlainHTTP, options.Mirrors = c.StringSlice("plain-http"), map[string][]string{}
	for _, m := range c.StringSlice("mirror") {
		host, mirror, found := strings.Cut(m, "=")
		if !found || host == "" || mirror == "" {
			return nil, cli.Usagef(c, "--mirror %s: write it as HOST=MIRROR, as in ghcr.io=mirror.example.org", m)
		}
		options.Mirrors[host] = append(options.Mirrors[host], mirror)
	}
	var err error
	if options.Authorities, err = authorities(c.String("registry-ca")); err != nil {
		return nil, cli.Usagef(c, "--registry-ca: %w", err)
	}
	return registry.NewClient(options)
}

// maxAuthorities bounds the file of --registry-ca, in bytes.
const maxAuthorities = 4 << 20

// authorities returns those of the system and of a PEM file; nil, which is those of the system, without one.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxAuthorities:
		return nil, fmt.Errorf("%s is no file of at most %d bytes", file, maxAuthorities)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if errors.Is(err, fs.ErrNotExist) || pool == nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM form", file)
	}
	return pool, nil
}
