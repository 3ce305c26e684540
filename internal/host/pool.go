package host

import (
	"errors"
	"io"
	"slices"
	"sync"
)

// A pool has open values that several users share. There is one for each key; it is closed when its last user releases it.
type pool[K any, V io.Closer] struct {
	isSame func(a, b K) bool

	mu   sync.Mutex // not held while a value is opened or closed
	open []*shared[K, V]
}

// A shared is a value of a pool.
type shared[K any, V io.Closer] struct {
	key   K
	value V

	pool  *pool[K, V]
	users int // guarded by pool.mu
}

// acquire returns the value of a key for one more user, who releases it. It opens the value if none is there. Of two values that are
// opened at the same time, one is closed again.
func (p *pool[K, V]) acquire(key K, open func() (V, error)) (*shared[K, V], error) {
	if s := p.find(key); s != nil {
		return s, nil
	}
	value, err := open()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	if s := p.findLocked(key); s != nil {
		p.mu.Unlock()
		if err := value.Close(); err != nil {
			return nil, errors.Join(err, s.release())
		}
		return s, nil
	}
	defer p.mu.Unlock()
	s := &shared[K, V]{key: key, value: value, pool: p, users: 1}
	p.open = append(p.open, s)
	return s, nil
}

// find returns the value of a key for one more user; nil if there is none.
func (p *pool[K, V]) find(key K) *shared[K, V] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.findLocked(key)
}

func (p *pool[K, V]) findLocked(key K) *shared[K, V] {
	for _, s := range p.open {
		if p.isSame(s.key, key) {
			s.users++
			return s
		}
	}
	return nil
}

// values returns those that are open.
func (p *pool[K, V]) values() (all []*shared[K, V]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.open)
}

// release ends the use of one user, and closes the value after that of the last one.
func (s *shared[K, V]) release() error {
	if s == nil {
		return nil
	}
	s.pool.mu.Lock()
	s.users--
	last := s.users == 0
	if last {
		s.pool.open = slices.DeleteFunc(s.pool.open, func(o *shared[K, V]) bool { return o == s })
	}
	s.pool.mu.Unlock()
	if !last {
		return nil
	}
	return s.value.Close()
}
