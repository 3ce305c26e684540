package oauth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	refetch   = 30 * time.Second // between two fetches of the keys of an issuer, at least
	firstWait = time.Second      // before the second fetch, if the first has failed; later ones wait twice as long, up to refetch
	freshTime = time.Hour        // after which keys are fetched again, while the old ones serve
	staleTime = 24 * time.Hour   // for which keys serve that cannot be fetched again
)

// A source has the keys and the metadata of an issuer, and fetches both when they are needed.
type source struct {
	// fixed at creation
	issuer *Issuer // of which only what is in its place is used
	client *http.Client
	run    func(func(context.Context)) bool // runs a function in a goroutine, unless the Verifier is closed
	logger *slog.Logger

	mu      sync.Mutex // held for moments
	keys    *keySet    // nil before the first
	meta    *issuerMetadata
	fetched time.Time     // when keys were
	tried   time.Time     // when the last fetch began
	wait    time.Duration // from tried to the next fetch
	flight  chan struct{} // closed when the fetch under way has ended; nil for none
}

// errors of look.
var (
	errUnknownKey  = &InvalidError{"it is signed by a key that its issuer does not publish"}
	errUnavailable = errors.New("the keys of the issuer cannot be fetched")
)

// MayBecomeValid reports whether a token that was refused may be valid in a moment, when the keys of its issuer are fetched again.
func MayBecomeValid(why *InvalidError) bool { return why == errUnknownKey }

// look returns the keys that may have signed a token. wait is not nil where a fetch has to be waited for; then look is called
// again. It does not block.
func (s *source) look(id, algorithm string) (keys []jose.JSONWebKey, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	age := now.Sub(s.fetched)
	if s.keys != nil && age < staleTime {
		if keys = s.keys.find(id, algorithm); len(keys) > 0 {
			if age > freshTime {
				s.startLocked(now)
			}
			return keys, nil, nil
		}
	}
	if s.startLocked(now) {
		return nil, s.flight, nil
	}
	if s.keys == nil || age >= staleTime {
		return nil, nil, errUnavailable
	}
	return nil, nil, errUnknownKey
}

// metadata returns the metadata, or a channel to wait for, as look does.
func (s *source) metadata() (m *issuerMetadata, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.meta != nil:
		return s.meta, nil, nil
	case s.startLocked(time.Now()):
		return nil, s.flight, nil
	}
	return nil, nil, errUnavailable
}

// startLocked reports whether a fetch is under way, which it begins if it may.
func (s *source) startLocked(now time.Time) bool {
	if s.flight != nil {
		return true
	}
	if !s.tried.IsZero() && now.Sub(s.tried) < s.wait {
		return false
	}
	done := make(chan struct{})
	if !s.run(func(ctx context.Context) { s.fetch(ctx, done) }) {
		return false
	}
	s.flight, s.tried = done, now
	return true
}

// fetch fetches metadata and keys.
func (s *source) fetch(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	meta, keys, err := s.get(ctx)
	if err != nil && ctx.Err() != context.Canceled {
		s.logger.Warn("keys of an issuer of tokens not fetched: known ones serve for 24 hours", "issuer", s.issuer.URL, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flight = nil
	close(done)
	if meta != nil {
		s.meta = meta
	}
	if err == nil {
		s.keys, s.fetched, s.wait = keys, time.Now(), refetch
		return
	}
	s.wait = min(max(2*s.wait, firstWait), refetch)
	if s.keys != nil {
		s.wait = refetch
	}
}

// get fetches what there is. meta may be there in spite of an error.
func (s *source) get(ctx context.Context) (meta *issuerMetadata, keys *keySet, err error) {
	url := s.issuer.Keys
	if url == "" {
		if meta, err = s.getMetadata(ctx); err != nil {
			return nil, nil, err
		}
		if url = meta.Keys; url == "" {
			return meta, nil, errors.New("the metadata names no jwks_uri")
		}
	}
	text, err := get(ctx, s.client, url)
	if err != nil {
		return meta, nil, err
	}
	keys, err = parseKeySet(text)
	return meta, keys, err
}

// getMetadata fetches the metadata from the first place where it is.
func (s *source) getMetadata(ctx context.Context) (*issuerMetadata, error) {
	var errs []error
	for _, url := range s.issuer.discoveryURLs() {
		text, err := get(ctx, s.client, url)
		if err == nil {
			var m *issuerMetadata
			if m, err = s.issuer.parseMetadata(text); err == nil {
				return m, nil
			}
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
