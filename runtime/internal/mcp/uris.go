package mcp

import (
	"sync"

	"github.com/wasmres/wasmres/abi"
)

const (
	defaultMaxURIs = 128 << 20 // bytes

	// The memory of a URI beside its own bytes, once and for each subscription that has it, in bytes.
	uriOnce, uriEach = 384, 192
	// uriWeight is how often each byte counts: the garbage collector lets the heap grow to twice the memory in use.
	uriWeight = 2
)

// URIs stores each URI of all subscriptions once, and bounds the memory of all. It is safe for concurrent use. A nil URIs
// stores nothing and has no bound.
type URIs struct {
	max int // bytes

	mu    sync.Mutex // guards the fields below
	bytes int        // of all, each counted uriWeight times
	known map[string]*namedURI
}

// A namedURI is one stored URI.
type namedURI struct {
	uri  abi.URI
	refs int
}

// size is the memory that the URI takes once, in bytes.
func (n *namedURI) size() int {
	size := uriOnce + len(n.uri.String())
	if n.uri.Normal() != n.uri.String() {
		size += len(n.uri.Normal())
	}
	return size
}

// NewURIs makes a URIs of at most that many bytes; 0 means 128 MiB.
func NewURIs(most int) *URIs {
	if most == 0 {
		most = defaultMaxURIs
	}
	return &URIs{max: most, known: make(map[string]*namedURI)}
}

// Take stores uris and replaces each by the stored one. The caller calls Drop for each. If there is no room for all of
// them, Take stores none; the error is [abi.CodeBusy].
func (u *URIs) Take(uris []abi.URI) error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, uri := range uris {
		known := u.known[uri.String()]
		if known == nil {
			known = &namedURI{uri: uri}
			u.known[uri.String()] = known
			u.bytes += known.size() * uriWeight
		}
		known.refs++
		u.bytes += uriEach * uriWeight
		if uris[i] = known.uri; u.bytes > u.max {
			for _, taken := range uris[:i+1] {
				u.dropLocked(taken.String())
			}
			return abi.Errorf(abi.CodeBusy, "The URIs of all subscriptions take the memory there is for them")
		}
	}
	return nil
}

// Drop releases one URI.
func (u *URIs) Drop(uri string) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.dropLocked(uri)
}

func (u *URIs) dropLocked(uri string) {
	u.bytes -= uriEach * uriWeight
	known := u.known[uri]
	if known.refs--; known.refs == 0 {
		u.bytes -= known.size() * uriWeight
		delete(u.known, uri)
	}
}

// Bytes returns the memory of all stored URIs, each byte counted twice.
func (u *URIs) Bytes() int {
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes
}
