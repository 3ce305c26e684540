package oauth

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// MaxWait is how long a Verifier waits for an issuer.
const MaxWait = fetchTime

// ErrPending says that a token cannot be verified without asking its issuer.
var ErrPending = errors.New("the issuer of the token has to be asked")

// An UnavailableError says that the issuer of a token cannot be asked now.
type UnavailableError struct{ cause error }

func (e *UnavailableError) Error() string { return "the token cannot be verified: " + e.cause.Error() }
func (e *UnavailableError) Unwrap() error { return e.cause }

// Config configures a Verifier. Its zero value is usable.
type Config struct {
	Now    func() time.Time // gives the time at which tokens expire; nil is for [time.Now]
	TLS    *tls.Config      // for issuers; nil trusts the authorities of the system
	Logger *slog.Logger     // nil discards
}

// A Verifier verifies tokens. It is safe for concurrent use. The caller closes it.
type Verifier struct {
	// fixed at creation
	cfg          Config
	ctx          context.Context // ends in Close
	cancel       context.CancelFunc
	any, publics *http.Client

	work sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	closed  bool
	sources map[place]*source
}

// New makes a Verifier.
func New(cfg Config) *Verifier {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	base := &http.Transport{TLSClientConfig: cfg.TLS, ForceAttemptHTTP2: true}
	v := &Verifier{cfg: cfg, any: newClient(false, base), publics: newClient(true, base), sources: map[place]*source{}}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// Close ends all fetches, and waits for that. It is idempotent.
func (v *Verifier) Close() error {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.cancel()
	v.work.Wait()
	v.any.CloseIdleConnections()
	v.publics.CloseIdleConnections()
	return nil
}

// run runs a function in a goroutine, unless the Verifier is closed.
func (v *Verifier) run(f func(context.Context)) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return false
	}
	v.work.Go(func() { f(v.ctx) })
	return true
}

// Retain forgets the keys of all issuers but these.
func (v *Verifier) Retain(issuers []*Issuer) {
	used := map[place]bool{}
	for _, i := range issuers {
		used[i.place()] = true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for p := range v.sources {
		if !used[p] {
			delete(v.sources, p)
		}
	}
}

func (v *Verifier) clientOf(i *Issuer) *http.Client {
	if i.PublicOnly {
		return v.publics
	}
	return v.any
}

// source returns that of an issuer.
func (v *Verifier) source(i *Issuer) *source {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.sources[i.place()]
	if s == nil {
		s = &source{issuer: i, client: v.clientOf(i), run: v.run, logger: v.cfg.Logger}
		v.sources[i.place()] = s
	}
	return s
}

// Check verifies a token of an issuer for a resource whose audiences these are, beside those of the issuer. It does not block. An error is an
// [InvalidError], [ErrPending] or an [UnavailableError].
func (v *Verifier) Check(t *Token, by *Issuer, resource []string) (*Claims, error) {
	c, _, err := v.check(t, by, resource)
	return c, err
}

// Wait is Check, but for ErrPending: it waits for the issuer until ctx ends, and no longer than [MaxWait].
func (v *Verifier) Wait(ctx context.Context, t *Token, by *Issuer, resource []string) (*Claims, error) {
	ctx, cancel := context.WithTimeout(ctx, MaxWait)
	defer cancel()
	for {
		c, wait, err := v.check(t, by, resource)
		if !errors.Is(err, ErrPending) {
			return c, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, &UnavailableError{ctx.Err()}
		}
	}
}

// check is Check, and returns what to wait for with ErrPending. What costs little is checked first.
func (v *Verifier) check(t *Token, by *Issuer, resource []string) (*Claims, <-chan struct{}, error) {
	if err := v.checkClaims(t, by, resource); err != nil {
		return nil, nil, err
	}
	keys, wait, err := v.source(by).look(t.keyID, string(t.algorithm))
	switch {
	case wait != nil:
		return nil, wait, ErrPending
	case errors.Is(err, errUnavailable):
		return nil, nil, &UnavailableError{err}
	case err != nil:
		return nil, nil, err
	}
	for _, key := range keys {
		if t.compact.isSignedBy(key.Key, t.algorithm) {
			return &t.Claims, nil, nil
		}
	}
	return nil, nil, &InvalidError{"its signature is wrong"}
}

// checkClaims checks all but the signature.
func (v *Verifier) checkClaims(t *Token, by *Issuer, resource []string) error {
	switch {
	case t.Issuer != by.URL:
		return invalid("its issuer is %.200q, not %.200q", t.Issuer, by.URL)
	case t.Subject == "":
		return invalid("it has no subject")
	case t.Expires.IsZero():
		return invalid("it never expires")
	}
	if err := t.checkKind(by.types()); err != nil {
		return err
	}
	if err := t.checkTimes(v.cfg.Now()); err != nil {
		return err
	}
	return t.checkAudience(resource, by.Audiences)
}
