package remote

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// Options are how a [Client] reaches registries. The zero value is good: anonymous, by https, with the proxies that the
// environment names.
type Options struct {
	Credentials   *Credentials           // nil: requests are anonymous
	CredentialsOf func(host string) bool // the registries and mirrors whose Credentials are used; nil for all
	PlainHTTP     func(host string) bool // the registries that are reached by HTTP; those on loopback may speak it anyway
	Authorities   *x509.CertPool         // whose certificates registries may have; nil for the system's
	// Mirrors have copies of the content of a registry: host of the registry → mirrors, each a host or host/prefix. They are
	// asked by digest only and need not be trusted.
	Mirrors map[string][]string
	Proxy   func(*http.Request) (*url.URL, error) // nil for that of the environment
	// Reach bounds where registries may be that references name; nil permits all addresses. It does not bind mirrors.
	Reach *Reach

	Idle    time.Duration // the longest wait for the next byte of a request or an answer; default 30 s
	Backoff time.Duration // the wait before a request is repeated, doubled each time; default 250 ms
}

const (
	idleTime  = 30 * time.Second
	backoff   = 250 * time.Millisecond
	userAgent = "wasmres"
	dockerHub = "docker.io" // whose short names are below library
)

// A Reach permits registries at public addresses, and further ones. The addresses are checked when a connection is opened, after
// the name was looked up; a proxy looks names up by itself, and is not bound.
type Reach struct {
	Hosts    func(host string) bool // registries that may be anywhere
	Networks []netip.Prefix         // where any registry may be, and what it leads to
}

// A Client reaches registries. It is safe for concurrent use.
type Client struct {
	options Options

	mu        sync.Mutex // guards endpoints
	endpoints map[endpointKey]*endpoint
}

// An endpointKey is a registry as references name it, or as a mirror of another one.
type endpointKey struct {
	host     string
	isMirror bool
}

// New opens no connection.
func New(o Options) (*Client, error) {
	if o.Idle < 0 || o.Backoff < 0 {
		return nil, errors.New("client of registries: a wait is negative")
	}
	if o.Idle == 0 {
		o.Idle = idleTime
	}
	if o.Backoff == 0 {
		o.Backoff = backoff
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	return &Client{options: o, endpoints: map[endpointKey]*endpoint{}}, nil
}

// Close closes idle connections. The client can still be used.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.endpoints {
		e.transport.CloseIdleConnections()
	}
}

// endpoint returns the registry of a host.
func (c *Client) endpoint(host string) *endpoint { return c.endpointOf(endpointKey{host, false}) }

func (c *Client) endpointOf(key endpointKey) *endpoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.endpoints[key]
	if e == nil {
		reach := c.options.Reach
		if key.isMirror { // the user of the client has named it
			reach = nil
		}
		e = newEndpoint(key.host, &c.options, reach)
		c.endpoints[key] = e
	}
	return e
}

// forget drops what is known of a registry, as the tokens that it gave.
func (c *Client) forget(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range []endpointKey{{host, false}, {host, true}} {
		if e := c.endpoints[key]; e != nil {
			e.transport.CloseIdleConnections()
			delete(c.endpoints, key)
		}
	}
}

// Repository returns the repository that a reference names. It sends no request.
func (c *Client) Repository(ref oci.Reference) (*Repository, error) {
	if ref.Registry == "" {
		return nil, fmt.Errorf("%s is not in a registry: write host/repository:tag", ref)
	}
	if ref.Registry == dockerHub && !strings.Contains(ref.Repository, "/") {
		ref.Repository = "library/" + ref.Repository
	}
	r := &Repository{name: ref.Name(), origin: newSource(c.endpoint(ref.Registry), ref.Repository)}
	for _, mirror := range c.options.Mirrors[ref.Registry] {
		host, prefix, _ := strings.Cut(mirror, "/")
		at, err := oci.ParseReference(host + "/" + strings.TrimPrefix(prefix+"/"+ref.Repository, "/"))
		if err != nil {
			return nil, fmt.Errorf("mirror %.100q of %s: %w", mirror, ref.Registry, err)
		}
		r.mirrors = append(r.mirrors, newSource(c.endpointOf(endpointKey{at.Registry, true}), at.Repository))
	}
	return r, nil
}

// isLoopback reports whether a host, with or without a port, is this machine by its name alone.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}
