// Package tokens authenticates clients by bearer tokens, from a file that has their hashes.
//
// A token is as wr_ID_RANDOM: 32 random bytes, and an id to find it by. The file has the SHA-256 of each token, with a name,
// an end and patterns of the URIs that the client may see; package strict reads it. A [Store] reads the file again when it
// changes. Nothing here logs a token, or puts one into an error.
package tokens

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/runtime/auth"
)

const (
	// pollInterval is how often a Store looks at its file.
	pollInterval = 200 * time.Millisecond
	// settleTime is for how long after a change the file may change again without another modification time.
	settleTime = 2 * time.Second
)

// A Store is an [auth.Authenticator] for the tokens of a file. When the file changes, tokens that are no longer in it end
// within a quarter of a second, as do those whose entry has changed; others are not affected. When the file is
// unreadable or wrong, the Store logs that and keeps the tokens that it has.
type Store struct {
	// fixed at creation
	file   string
	logger *slog.Logger
	stop   context.CancelFunc
	done   chan struct{} // closed when poll has ended

	current atomic.Pointer[table]

	// owned by poll
	seen    fs.FileInfo // nil when the file could not be read
	text    []byte      // of the file
	problem string      // the last one that was logged; empty for none

	closeOnce sync.Once
}

// A table has the tokens of one version of the file, by id. It is immutable.
type table map[string]*entry

// An entry is one token, until it ends.
type entry struct {
	of       Token
	sum      [sha256.Size]byte
	identity *auth.Identity
	end      context.CancelFunc
}

// Open reads a file of tokens. The caller calls Close. A nil logger discards.
func Open(file string, logger *slog.Logger) (*Store, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{file: file, logger: logger, done: make(chan struct{})}
	s.current.Store(&table{})
	if err := s.read(); err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.poll(ctx)
	return s, nil
}

// Close ends all tokens. It is idempotent.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.stop()
		<-s.done
		s.replace(table{})
	})
	return nil
}

// Challenge implements [auth.Authenticator].
func (s *Store) Challenge(string) string { return `Bearer realm="wasmres"` }

// Authenticate implements [auth.Authenticator]. How long it takes does not depend on the secret part of a token.
func (s *Store) Authenticate(c auth.Credential) (*auth.Identity, error) {
	if c.Authorization == "" {
		return nil, auth.ErrMissing
	}
	id, sum, ok := Parse(c.Authorization)
	if !ok {
		return nil, auth.ErrInvalid
	}
	e := (*s.current.Load())[id]
	if e == nil || subtle.ConstantTimeCompare(sum[:], e.sum[:]) != 1 || !e.identity.Valid() {
		return nil, auth.ErrInvalid
	}
	return e.identity, nil
}

// poll reads the file again when it has changed, until ctx ends.
func (s *Store) poll(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.report(s.read())
		}
	}
}

// report logs a problem with the file once.
func (s *Store) report(err error) {
	switch {
	case err == nil && s.seen != nil:
		s.problem = ""
	case err != nil && err.Error() != s.problem:
		s.problem = err.Error()
		s.logger.Error("tokens not read, the last ones stay in force", "file", s.file, "err", s.problem)
	}
}

// read reads the file if it may have changed.
func (s *Store) read() error {
	info, err := os.Stat(s.file)
	if err != nil {
		s.seen = nil
		return err
	}
	if !s.mayHaveChanged(info) {
		return nil
	}
	text, err := strict.ReadFile(s.file)
	if err != nil {
		s.seen = nil
		return err
	}
	isFirst, isSame := s.text == nil, s.seen != nil && bytes.Equal(text, s.text)
	if s.seen, s.text = info, text; isSame {
		return nil
	}
	file, err := Decode(s.file, text)
	if err != nil {
		return err
	}
	next, err := s.merge(file)
	if err != nil {
		return err
	}
	s.replace(next)
	if !isFirst {
		s.logger.Info("tokens read again", "file", s.file, "tokens", len(next))
	}
	return nil
}

func (s *Store) mayHaveChanged(info fs.FileInfo) bool {
	last := s.seen
	return last == nil || !os.SameFile(last, info) || last.Size() != info.Size() || !last.ModTime().Equal(info.ModTime()) ||
		time.Since(info.ModTime()) < settleTime
}

// merge gives the table of a file: the entries that have not changed, and new ones.
func (s *Store) merge(file *File) (table, error) {
	old, next := *s.current.Load(), make(table, len(file.Tokens))
	for _, t := range file.Tokens {
		if e := old[t.ID]; e != nil && e.is(t) {
			next[t.ID] = e
			continue
		}
		e, err := newEntry(t)
		if err != nil {
			return nil, err
		}
		next[t.ID] = e
	}
	return next, nil
}

func (e *entry) is(t Token) bool {
	return e.of.Name == t.Name && e.of.SHA256 == t.SHA256 && e.of.Expires == t.Expires && slices.Equal(e.of.URIs, t.URIs)
}

func newEntry(t Token) (*entry, error) {
	sum, hashErr := t.hash()
	expires, timeErr := expiry(t.Expires)
	uris, uriErr := t.patterns()
	if err := errors.Join(hashErr, timeErr, uriErr); err != nil {
		return nil, fmt.Errorf("token %s: %w", t.ID, err)
	}
	ctx, end := context.WithCancel(context.Background())
	if !expires.IsZero() {
		ctx, end = context.WithDeadline(context.Background(), expires)
	}
	identity := auth.NewIdentity(ctx, abi.Principal{Subject: t.Name}, auth.FullAccess(uris...), expires)
	return &entry{of: t, sum: sum, identity: identity, end: end}, nil
}

// replace makes next the table, and ends the entries that are not in it.
func (s *Store) replace(next table) {
	old := *s.current.Swap(&next)
	for id, e := range old {
		if next[id] != e {
			e.end()
		}
	}
}
