package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/retry"
)

const (
	dialTime          = 10 * time.Second
	keepAlive         = 15 * time.Second
	maxResponseHeader = 64 << 10 // bytes
	maxConnections    = 16       // idle ones of a registry
	bufferSize        = 64 << 10 // bytes; blobs are large
	maxRedirects      = 5
	maxRepeats        = 4  // of one request
	maxBackoff        = 40 // times the first wait
)

// An endpoint is one registry or mirror: its connections and tokens.
type endpoint struct {
	host      string // as references name it
	name      string // of the server, without the port
	port      string // empty for that of the scheme
	options   *Options
	transport *http.Transport
	client    *auth.Client
	places    places
	secrets   secrets

	mu     sync.Mutex // guards the fields below
	probed bool
	plain  bool
	realms []url.URL // token servers that a path of the registry stands for
}

// newEndpoint returns the registry of a host, with a bound on its addresses, or with none.
func newEndpoint(host string, o *Options, reach *Reach) *endpoint {
	e := &endpoint{host: host, options: o}
	server := registry.Reference{Registry: host}.Host() // that of docker.io has another name
	var err error
	if e.name, e.port, err = net.SplitHostPort(server); err != nil {
		e.name = strings.Trim(server, "[]")
	}
	e.places.isOwn = e.isOwn
	e.places.ownAnywhere = reach == nil || reach.Hosts != nil && reach.Hosts(host)
	if reach != nil {
		e.places.networks = reach.Networks
	}
	e.transport = &http.Transport{
		Proxy:                  e.places.proxy(o.Proxy),
		DialContext:            e.places.dial,
		TLSClientConfig:        &tls.Config{RootCAs: o.Authorities, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTime,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // blobs have a digest as they are
		MaxIdleConns:           maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: maxResponseHeader,
		WriteBufferSize:        bufferSize,
		ReadBufferSize:         bufferSize,
	}
	e.client = e.newClient(e.credential)
	e.client.Cache = auth.NewCache()
	return e
}

// newClient returns a client with these credentials, which keeps no tokens.
func (e *endpoint) newClient(credential auth.CredentialFunc) *auth.Client {
	return &auth.Client{
		Client: &http.Client{
			Transport: &retry.Transport{Base: (*guard)(e), Policy: e.policy},
			CheckRedirect: func(_ *http.Request, via []*http.Request) error {
				if len(via) > maxRedirects {
					return refusedf("the registry redirected more than %d times", maxRedirects)
				}
				return nil
			},
		},
		Header:     http.Header{"User-Agent": {userAgent}},
		Credential: credential,
		ClientID:   userAgent,
	}
}

// policy decides which requests are repeated: those that broke, and those that the registry was too busy for.
func (e *endpoint) policy() retry.Policy {
	return &retry.GenericPolicy{
		Retryable: func(resp *http.Response, err error) (bool, error) {
			if stall := (*stallError)(nil); errors.As(err, &stall) {
				return false, err
			}
			if resp != nil && resp.StatusCode == http.StatusNotImplemented {
				return false, nil
			}
			if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) { // the registry has ended the connection before it answered
				return true, nil
			}
			return retry.DefaultPredicate(resp, err)
		},
		Backoff: retry.ExponentialBackoff(e.options.Backoff, 2, 0.2),
		MinWait: e.options.Backoff / 2, MaxWait: maxBackoff * e.options.Backoff, MaxRetry: maxRepeats,
	}
}

// isOwn reports whether a host and port are those of the registry.
func (e *endpoint) isOwn(name, port string) bool {
	if !strings.EqualFold(strings.Trim(name, "[]"), e.name) {
		return false
	}
	return port == e.port || e.port == "" && (port == "443" || port == "80")
}

// isPlain reports whether the registry is reached by HTTP. One on loopback is asked, once, whether it speaks TLS.
func (e *endpoint) isPlain(ctx context.Context) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.probed {
		return e.plain, nil
	}
	var err error
	switch {
	case e.options.PlainHTTP != nil && e.options.PlainHTTP(e.host):
		e.plain = true
	case isLoopback(e.host):
		e.plain, err = e.probe(ctx)
	}
	e.probed = err == nil
	return e.plain, err
}

// probe reports whether the server answers a TLS handshake with something else. It does not check the certificate: that is
// for the requests.
func (e *endpoint) probe(ctx context.Context) (plain bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(dialTime, e.options.Idle), &stallError{wait: e.options.Idle})
	defer cancel()
	port := e.port
	if port == "" {
		port = "443"
	}
	dialer := tls.Dialer{NetDialer: e.places.dialer(e.name, port, false), Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // nothing is sent
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(e.name, port))
	if err == nil {
		return false, conn.Close()
	}
	if record := (tls.RecordHeaderError{}); errors.As(err, &record) {
		return true, nil
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if refused := (*refusedError)(nil); errors.As(err, &refused) {
		return false, refused
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return false, fmt.Errorf("no connection: %w", err)
	}
	return false, nil // the requests say what is wrong with its TLS
}
