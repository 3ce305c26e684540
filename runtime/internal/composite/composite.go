package composite

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	defaultPageSize = 1000
	defaultTimeout  = 2 * time.Second

	minKey     = 16 // bytes
	maxCalls   = 64 // lists and subscriptions of one member that run at once
	maxMembers = 1024
	maxPage    = 1 << 20 // entries
	maxName    = 256     // bytes
)

// A Member is one of the sources a [Source] is made of. Every field is required.
type Member struct {
	Name   string // unique among the members; clients and the log see it; at most 256 bytes
	Source resource.Source
	Claims Claims
}

// Config says what a Source is made of. Members are required.
type Config struct {
	Members       []Member      // in the order of lists
	PageSize      int           // entries of a page, at most 1,048,576; 0 means 1,000
	MemberTimeout time.Duration // how long one member may take for its part of a page, or to begin a subscription; 0 means 2 s
	// Key authenticates cursors; at least 16 bytes. Processes with the same key and members accept each other's cursors.
	// Nil means a random key.
	Key    []byte
	Logger *slog.Logger // nil discards
}

func (c *Config) fill() error {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Key == nil {
		c.Key = make([]byte, 32)
		_, _ = rand.Read(c.Key) // never fails
	}
	var errs []error
	if len(c.Key) < minKey {
		errs = append(errs, fmt.Errorf("composite: Key has %d bytes, expected at least %d", len(c.Key), minKey))
	}
	if c.PageSize < 0 || c.PageSize > maxPage || c.MemberTimeout < 0 {
		errs = append(errs, fmt.Errorf("composite: PageSize is %d, expected 0 to %d, and MemberTimeout %v, not negative",
			c.PageSize, maxPage, c.MemberTimeout))
	}
	c.PageSize, c.MemberTimeout = cmp.Or(c.PageSize, defaultPageSize), cmp.Or(c.MemberTimeout, defaultTimeout)
	return errors.Join(append(errs, c.checkMembers()...)...)
}

func (c *Config) checkMembers() (errs []error) {
	if len(c.Members) == 0 || len(c.Members) > maxMembers {
		errs = append(errs, fmt.Errorf("composite: %d members, expected 1 to %d", len(c.Members), maxMembers))
	}
	seen := map[string]bool{}
	for i, m := range c.Members {
		switch {
		case m.Name == "" || len(m.Name) > maxName || m.Source == nil:
			err := fmt.Errorf("composite: member %d has no source, no name, or one of more than %d bytes", i, maxName)
			errs = append(errs, err)
		case seen[m.Name]:
			errs = append(errs, fmt.Errorf("composite: two members are called %.64q", m.Name))
		}
		seen[m.Name] = true
	}
	return errs
}

// A Source serves the resources of all its members. It is safe for concurrent use. Close releases it.
type Source struct {
	// fixed at creation
	cfg     Config
	members []*member
	owners  *owners
	cursors *cursorCodec

	calls sync.WaitGroup // of members, those included that were late

	mu     sync.Mutex // guards the field below
	closed bool

	used usedMembers
}

// A member is one of the sources, with the bound of its calls.
type member struct {
	Member
	slots chan struct{} // holds a token for each call under way

	isUsed   atomic.Bool // it is in usedMembers
	nextUsed *member     // guarded by usedMembers.mu
}

var (
	_ resource.Source         = (*Source)(nil)
	_ resource.AfterResponder = (*Source)(nil)
	_ resource.SessionEnder   = (*Source)(nil)
)

// New makes a Source. It refuses members with equal claims.
func New(cfg Config) (*Source, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	owners, err := newOwners(cfg.Members)
	if err != nil {
		return nil, err
	}
	s := &Source{cfg: cfg, owners: owners, cursors: newCursorCodec(cfg.Key, cfg.Members)}
	for _, m := range cfg.Members {
		s.members = append(s.members, &member{Member: m, slots: make(chan struct{}, maxCalls)})
	}
	return s, nil
}

// Close waits for calls of members that were late; each ends soon after it was cancelled. Lists and subscriptions that
// begin later are unavailable. It leaves the members open, and is idempotent.
func (s *Source) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.calls.Wait()
	return nil
}

// EndSession implements [resource.SessionEnder], for all members.
func (s *Source) EndSession(session string) {
	for _, m := range s.members {
		if ender, ok := m.Source.(resource.SessionEnder); ok {
			ender.EndSession(session)
		}
	}
}
