// Package coalesce merges changes: a [Set] has the keys of what has changed and has not been delivered yet, each once
// however often it is added.
//
// It knows nothing of what the keys name and starts no goroutine. Everything that notifies subscribers may import it.
package coalesce

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Set holds keys that wait to be taken, oldest first. Its methods do not block and are safe for concurrent use. Only
// as many keys wait as different ones were added; the owner bounds which these are. An empty Set holds no memory but its
// own.
type Set struct {
	// C holds a token when Add has found the Set idle and New got no wake; nil otherwise.
	C <-chan struct{}

	wake func() // fixed at creation

	mu     sync.Mutex // guards the fields below
	keys   []string   // oldest first
	has    map[string]struct{}
	busy   bool // the consumer was woken and has not found the Set empty since
	closed bool
}

// New makes an empty Set. Add calls wake when the Set is idle: at first, and again when Take has found nothing. So a
// consumer, once woken, takes until there is nothing, or calls Wake when it stops earlier. wake must not block. With a
// nil wake, the Set puts a token into C instead.
func New(wake func()) *Set {
	if wake != nil {
		return &Set{wake: wake}
	}
	token := make(chan struct{}, 1)
	return &Set{C: token, wake: func() {
		select {
		case token <- struct{}{}:
		default:
		}
	}}
}

// Add has key taken once more, unless it waits already. After Close it does nothing.
func (s *Set) Add(key string) {
	if s.add(key) {
		s.wake()
	}
}

// add reports whether the consumer is to be woken.
func (s *Set) add(key string) (idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.addLocked(key)
	idle, s.busy = !s.busy, true
	return idle
}

func (s *Set) addLocked(key string) {
	if _, waits := s.has[key]; waits {
		return
	}
	if s.has == nil {
		s.has = make(map[string]struct{})
	}
	s.has[key] = struct{}{}
	s.keys = append(s.keys, key)
}

// Take takes the key that has waited longest. ok is false when there is none: the Set is idle then.
func (s *Set) Take() (key string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.keys) == 0 {
		s.keys, s.has, s.busy = nil, nil, false
		return "", false
	}
	key, s.keys[0] = s.keys[0], ""
	s.keys = s.keys[1:]
	delete(s.has, key)
	return key, true
}

// Remove has key wait no longer.
func (s *Set) Remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, waits := s.has[key]; waits {
		delete(s.has, key)
		i := slices.Index(s.keys, key)
		s.keys = slices.Delete(s.keys, i, i+1)
	}
}

// Wake wakes the consumer, even if there is nothing to take.
func (s *Set) Wake() { s.wake() }

// Close discards all keys. A wake that has begun may still follow. It is idempotent.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.keys, s.has = true, nil, nil
}

// Drain hands keys to deliver until ctx ends, for a consumer with a goroutine of its own; the Set must have a C. It
// delivers all that wait, then pauses, so that it delivers a key once in that time at most. A key whose delivery fails
// waits again; Add starts the next attempt.
func (s *Set) Drain(ctx context.Context, pause time.Duration, deliver func(key string) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.C:
		}
		for _, key := range s.takeAll() {
			if ctx.Err() == nil && deliver(key) != nil {
				s.requeue(key)
			}
		}
		if pause > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
}

// takeAll takes all keys, and leaves the Set idle.
func (s *Set) takeAll() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, s.keys, s.has, s.busy = s.keys, nil, nil, false
	return keys
}

// requeue has key wait, without waking the consumer.
func (s *Set) requeue(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.addLocked(key)
	}
}
