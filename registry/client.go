package registry

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/netip"
	"strings"

	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/remote"
	"github.com/wasmres/wasmres/registry/internal/transfer"
)

// ErrUnauthorized says that a registry does not permit what was asked for.
var ErrUnauthorized = oci.ErrUnauthorized

// ClientOptions are how a [Client] reaches registries. The zero value is good: the credentials that docker has, HTTPS, and the
// proxies that the environment names.
type ClientOptions struct {
	// DockerConfig is the folder with docker's config.json, which has credentials or names a helper that has them. Empty is
	// $DOCKER_CONFIG, else ~/.docker.
	DockerConfig string
	// Anonymous uses no credentials.
	Anonymous bool
	// CredentialsOf are the registries and mirrors, as registry.internal:5000, whose credentials are used; nil is all of them. Give it
	// where references come from people that may not have what the credentials open.
	CredentialsOf []string
	// PlainHTTP are the hosts of registries that are reached by HTTP. Those on loopback may speak it anyway.
	PlainHTTP []string
	// Authorities issue certificates that registries may have. Nil means those of the system.
	Authorities *x509.CertPool
	// Mirrors have copies of the content of a registry: its host → mirrors, each a host or host/prefix. They are asked by digest
	// only and need not be trusted.
	Mirrors map[string][]string
	// Reach bounds the addresses of registries, but for mirrors; nil permits all.
	Reach *Reach
}

// A Reach is where the registries may be whose names come from people that do not own the network: at public addresses, and where
// it says. Addresses are checked when a connection is opened, after the name was looked up. A proxy looks names up itself: where
// the environment names one, it has to refuse what is not public.
type Reach struct {
	// Allow are registries, as registry.internal:5000, and addresses and networks, as 10.0.0.0/8.
	Allow []string
}

// CheckReach returns an error unless a text may stand in the field Allow of a [Reach].
func CheckReach(text string) error {
	_, _, err := parseReach(text)
	return err
}

// CheckHost returns an error unless a text may stand in the field CredentialsOf of [ClientOptions].
func CheckHost(text string) error {
	if strings.Contains(text, "*") || !hostPattern.MatchString(text) {
		return fmt.Errorf("%.100q is no registry: write a host as references have it, as registry.internal:5000", text)
	}
	return nil
}

// parseReach returns the host of a registry, or else a network.
func parseReach(text string) (host string, network netip.Prefix, err error) {
	if network, err = netip.ParsePrefix(text); err == nil {
		if network != network.Masked() {
			return "", network, fmt.Errorf("the network %s has bits beyond its prefix: write %s", text, network.Masked())
		}
		return "", network, nil
	}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return "", netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	if CheckHost(text) != nil {
		return "", network, fmt.Errorf("%.100q is no registry and no network: write a host as references have it, as registry.internal:5000, or a network, as 10.0.0.0/8", text)
	}
	return canonicalHost(text), network, nil
}

// remote returns what package remote takes for r.
func (r *Reach) remote() (*remote.Reach, error) {
	if r == nil {
		return nil, nil
	}
	hosts, to := map[string]bool{}, &remote.Reach{}
	for _, text := range r.Allow {
		host, network, err := parseReach(text)
		if err != nil {
			return nil, err
		}
		if host != "" {
			hosts[host] = true
		} else {
			to.Networks = append(to.Networks, network)
		}
	}
	to.Hosts = func(host string) bool { return hosts[canonicalHost(host)] }
	return to, nil
}

// A Client reaches registries, and image layouts as if they were some. Each wait has an end: a registry that says nothing for
// half a minute fails. It may be used concurrently. The caller closes it.
type Client struct{ remote *remote.Client }

// A Progress says how many bytes of a blob have been copied.
type Progress = transfer.Progress

// NewClient returns a client. It opens no connection.
func NewClient(o ClientOptions) (*Client, error) {
	options := remote.Options{Authorities: o.Authorities, Mirrors: o.Mirrors}
	if !o.Anonymous {
		found, err := remote.DockerCredentials(o.DockerConfig)
		if err != nil {
			return nil, err
		}
		options.Credentials = found
	}
	if o.CredentialsOf != nil {
		known := map[string]bool{}
		for _, host := range o.CredentialsOf {
			known[canonicalHost(host)] = true
		}
		options.CredentialsOf = func(host string) bool { return known[canonicalHost(host)] }
	}
	plain := map[string]bool{}
	for _, host := range o.PlainHTTP {
		plain[canonicalHost(host)] = true
	}
	options.PlainHTTP = func(host string) bool { return plain[canonicalHost(host)] }
	var err error
	if options.Reach, err = o.Reach.remote(); err != nil {
		return nil, err
	}
	client, err := remote.New(options)
	if err != nil {
		return nil, err
	}
	return &Client{client}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.remote.Close() }

// Resolve returns the descriptor of the manifest that a reference names today.
func (c *Client) Resolve(ctx context.Context, r Reference) (d Descriptor, err error) {
	err = c.with(r, false, func(at oci.Target) error {
		d, err = at.Resolve(ctx, r.Locator())
		return err
	})
	return d, err
}

// Tags returns the tags of the repository of a reference, sorted, without those that stand for signatures.
func (c *Client) Tags(ctx context.Context, r Reference) (tags []string, err error) {
	err = c.with(r, false, func(at oci.Target) error {
		tags, err = at.Tags(ctx)
		return err
	})
	return tags, err
}

// Push copies a provider from a store, with its signatures there, to the registry or layout that its reference names. What the
// registry has is not sent again.
func (c *Client) Push(ctx context.Context, from *Store, r Reference, progress func(Progress)) error {
	local, err := from.repository(r)
	if err != nil {
		return err
	}
	return c.with(r, true, func(to oci.Target) error {
		_, err := transfer.Copy(ctx, local, r.Locator(), to, r.Tag, transfer.Options{Signatures: true, Progress: progress})
		return err
	})
}

// Copy copies a provider with its signatures. Either reference may be of a layout. Bytes and digest stay the same. to has a tag.
func (c *Client) Copy(ctx context.Context, from, to Reference, progress func(Progress)) (manifest Descriptor, err error) {
	if to.Digest != "" {
		return manifest, fmt.Errorf("copy to %s: the digest follows from what is copied: name a tag", to)
	}
	source, closeSource, err := c.target(from, false)
	if err != nil {
		return manifest, err
	}
	defer closeSource()
	target, closeTarget, err := c.target(to, true)
	if err != nil {
		return manifest, err
	}
	defer closeTarget()
	a, err := transfer.Copy(ctx, source, from.Locator(), target, to.Tag, transfer.Options{Signatures: true, Progress: progress})
	if err != nil {
		return manifest, fmt.Errorf("copy %s to %s: %w", from, to, err)
	}
	return a.Descriptor, nil
}

// PushSignature stores a signature, as [Signer.Sign] makes it, beside the manifest that it is about.
func (c *Client) PushSignature(ctx context.Context, r Reference, manifest Descriptor, bundle []byte) error {
	return c.with(r, true, func(at oci.Target) error {
		_, err := transfer.PushSignature(ctx, at, bundle, manifest)
		return err
	})
}

// Login asks a registry whether a user may come in with a password or token, and saves both where docker finds them.
func (c *Client) Login(ctx context.Context, host, user, password string) error {
	return c.remote.Login(ctx, host, user, password)
}

// Logout removes the credentials of a registry, if there are some.
func (c *Client) Logout(ctx context.Context, host string) error { return c.remote.Logout(ctx, host) }

// with calls do with the repository or layout that a reference names, which the error of do names too. A layout is created if
// it is to be written.
func (c *Client) with(r Reference, write bool, do func(oci.Target) error) error {
	at, closeTarget, err := c.target(r, write)
	if err != nil {
		return err
	}
	defer closeTarget()
	if err := do(at); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	return nil
}

func (c *Client) target(r Reference, write bool) (at oci.Target, closeTarget func(), err error) {
	if r.Layout == "" {
		at, err = c.remote.Repository(r)
		return at, func() {}, err
	}
	store, err := OpenLayout(r, write, StoreOptions{})
	if err != nil {
		return nil, nil, err
	}
	at, err = store.repository(r)
	return at, func() { _ = store.Close() }, err
}
