package guesttest

import (
	"crypto/sha256"
	"sync"
)

// Modules keeps what a test process has checked and metered: with the race detector that takes a second for a Go
// program. It is a runtime.ModuleCache, safe for concurrent use.
var Modules = new(modules)

type modules struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte][]byte // guarded by mu
}

// Get returns what is kept under a key.
func (m *modules) Get(key [sha256.Size]byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[key]
}

// Put keeps text under a key.
func (m *modules) Put(key [sha256.Size]byte, text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[[sha256.Size]byte][]byte{}
	}
	m.kept[key] = text
}
