package httpcap

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/netaddr"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// Config has the grant of one provider: what its guests may fetch, and how much.
type Config struct {
	Rules   []Rule        // the first that allows a request counts; no rules allow nothing
	Secrets *secret.Store // those that rules name; nil for none
	Limits  Limits

	Observe  capability.Observer // of each request and each further part of an answer; nil for none
	Resolver *net.Resolver       // of host names; nil for the system's
	RootCAs  *x509.CertPool      // authorities of server certificates; nil for those of the system
}

// Limits bound what one provider uses. Zero fields take the default.
type Limits struct {
	Response   int64         // bytes of the body of a response, decoded; default 16 MiB
	Request    int           // bytes of the body of a request; default 256 KiB
	Timeout    time.Duration // of a whole exchange, with redirects and the body of the response; default 30 s
	Concurrent int           // exchanges at a time, further ones wait; default 32
	Cache      int64         // bytes of cached answers; default 16 MiB, negative: no cache
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Response: orDefault(l.Response, 16<<20), Request: orDefault(l.Request, 256<<10),
		Timeout: orDefault(l.Timeout, 30*time.Second), Concurrent: orDefault(l.Concurrent, 32),
		Cache: orDefault(l.Cache, 16<<20),
	}
}

func orDefault[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// HTTP fetches URLs that its rules allow. It is safe for concurrent use.
type HTTP struct {
	rules    []*rule
	limits   Limits
	observe  capability.Observer
	redactor *redactor
	public   *http.Transport // dials public addresses only
	private  *http.Transport // dials any address, for rules that say Private
	slots    chan struct{}
	streams  streams
	cache    *cache
	now      func() time.Time
	closed   atomic.Bool
}

// Open checks the rules and looks up their secrets. It opens no connection.
func Open(cfg Config) (*HTTP, error) {
	h := &HTTP{limits: cfg.Limits.withDefaults(), observe: cfg.Observe, now: time.Now}
	if h.limits.Response < 0 || h.limits.Request < 0 || h.limits.Timeout < 0 || h.limits.Concurrent < 0 {
		return nil, errors.New("http grant: a limit is negative")
	}
	var texts []string
	for i := range cfg.Rules {
		r, err := compileRule(&cfg.Rules[i])
		if err == nil {
			err = r.bind(cfg.Rules[i].Secrets, cfg.Secrets)
		}
		if err != nil {
			return nil, fmt.Errorf("http grant: rule %d: %w", i+1, err)
		}
		h.rules = append(h.rules, r)
		for _, value := range r.secrets {
			texts = append(texts, value.Reveal())
		}
	}
	slices.Sort(texts)
	h.redactor = newRedactor(slices.Compact(texts))
	h.public, h.private = newTransport(&cfg, h.limits, checkDial), newTransport(&cfg, h.limits, nil)
	h.slots = make(chan struct{}, h.limits.Concurrent)
	h.cache = newCache(h.limits.Cache)
	return h, nil
}

const (
	maxIdle   = 16 // connections
	idleTime  = time.Minute
	dialTime  = 10 * time.Second
	keepAlive = 15 * time.Second
)

// checkDial refuses, as the Control of a [net.Dialer], to connect to addresses that are not public.
func checkDial(_, address string, _ syscall.RawConn) error {
	if err := netaddr.CheckPublic(address); err != nil {
		return denied("%v", err)
	}
	return nil
}

// newTransport makes a pool of connections. It ignores proxies of the environment: a proxy would dial unchecked addresses.
func newTransport(cfg *Config, limits Limits, check func(_, _ string, _ syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: keepAlive, Resolver: cfg.Resolver, Control: check}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: cfg.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTime,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdle,
		MaxConnsPerHost:        limits.Concurrent,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

// Close ends all streams and closes idle connections. Running exchanges end with their calls. Further calls do nothing.
func (h *HTTP) Close() error {
	h.closed.Store(true)
	h.streams.close()
	h.public.CloseIdleConnections()
	h.private.CloseIdleConnections()
	return nil
}

// Services returns the two services, to be granted together.
func (h *HTTP) Services() capability.Services {
	return capability.Services{
		abi.ServiceHTTP:   service{h.fetch, onlyReads},
		abi.ServiceStream: service{h.more, func([]byte) bool { return true }}, // more of a response that has arrived
	}
}

type service struct {
	call      func(ctx context.Context, request []byte) (capability.Response, error)
	mayRepeat func(request []byte) bool
}

// Call implements [capability.Service].
func (s service) Call(ctx context.Context, request []byte) (capability.Response, error) {
	return s.call(ctx, request)
}

// MayRepeat implements [capability.Repeatable].
func (s service) MayRepeat(request []byte) bool { return s.mayRepeat(request) }

// onlyReads reports whether the method of a request is one that changes nothing on the server.
func onlyReads(request []byte) bool {
	var req abi.HTTPRequest
	if err := req.Decode(request); err != nil {
		return false
	}
	method := orElse(req.Method, http.MethodGet)
	return method == http.MethodGet || method == http.MethodHead
}

// fetch answers [abi.ServiceHTTP].
func (h *HTTP) fetch(ctx context.Context, request []byte) (capability.Response, error) {
	use := capability.Use{Subject: "a malformed request"}
	began := time.Now()
	resp, err := h.request(ctx, request, &use)
	return resp, h.end(ctx, &use, began, err)
}

// more answers [abi.ServiceStream].
func (h *HTTP) more(ctx context.Context, request []byte) (capability.Response, error) {
	use := capability.Use{Subject: "a stream that is not open"}
	began := time.Now()
	resp, err := h.continued(ctx, request, &use)
	return resp, h.end(ctx, &use, began, err)
}

// end observes a use, and returns the error for the guest. Both are redacted.
func (h *HTTP) end(ctx context.Context, use *capability.Use, began time.Time, err error) error {
	if err != nil {
		if refused := (*deniedError)(nil); errors.As(err, &refused) {
			use.Rule = clip(h.redactor.text(refused.rule))
		}
		err = h.classify(ctx, err)
		use.Code = abi.CodeOf(err)
	}
	use.Capability, use.Elapsed = "http", time.Since(began)
	use.Subject = clip(h.redactor.text(use.Subject))
	h.observe.Observe(ctx, *use)
	return err
}

// classify returns the public error, with a redacted cause.
func (h *HTTP) classify(ctx context.Context, err error) error {
	var public *abi.Error
	var refused *deniedError
	outcome := abi.Errorf(abi.CodeUnavailable, "no answer")
	switch {
	case errors.As(err, &public):
		outcome = abi.Errorf(public.Code, "%s", h.redactor.text(public.Message))
		if err = public.Cause; err == nil {
			return outcome
		}
	case errors.As(err, &refused):
		outcome = abi.Errorf(abi.CodeDenied, "not granted")
	case ctx.Err() != nil:
		outcome = abi.Errorf(abi.CodeOf(ctx.Err()), "the call has ended")
	case errors.Is(err, context.DeadlineExceeded):
		outcome = abi.Errorf(abi.CodeDeadline, "no answer in time")
	}
	return outcome.Because(errors.New(h.redactor.text(err.Error()))) // text only: wrapped errors may hold secrets
}
