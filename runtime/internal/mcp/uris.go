package mcp

import (
	"sync"

	"github.com/wasmres/wasmres/abi"
)

const (
	defaultMaxURIs = 128 << 20 // bytes

	// What a URI takes beside its own bytes, once and in each subscription that names it, in bytes.
	uriOnce, uriEach = 384, 192
	// uriWeight is how often each byte counts: the garbage collector lets as much garbage gather as there is memory in use.
	uriWeight = 2
)

// URIs keeps the URIs of all subscriptions, each of them once, and bounds the memory that takes. It is safe for concurrent
// use. A nil URIs keeps nothing and has no bound.
type URIs struct {
	most int // bytes

	mu    sync.Mutex // guards the fields below
	bytes int        // of all, each counted uriWeight times
	known map[string]*namedURI
}

// A namedURI is one URI that subscriptions name.
type namedURI struct {
	uri  string
	refs int
}

// NewURIs makes a URIs that takes so many bytes at most; 0 means 128 MiB.
func NewURIs(most int) *URIs {
	if most == 0 {
		most = defaultMaxURIs
	}
	return &URIs{most: most, known: make(map[string]*namedURI)}
}

// Take puts in the place of each of uris the one that is kept, to be given back by Drop. Where there is no room for all of
// them, it takes none; the error is [abi.CodeBusy].
func (u *URIs) Take(uris []string) error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, uri := range uris {
		if u.bytes += uriEach * uriWeight; u.known[uri] == nil {
			u.known[uri] = &namedURI{uri: uri}
			u.bytes += (uriOnce + len(uri)) * uriWeight
		}
		known := u.known[uri]
		known.refs++
		if uris[i] = known.uri; u.bytes > u.most {
			for _, taken := range uris[:i+1] {
				u.dropLocked(taken)
			}
			return abi.Errorf(abi.CodeBusy, "The URIs of all subscriptions take the memory there is for them")
		}
	}
	return nil
}

// Drop gives one URI back.
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
		u.bytes -= (uriOnce + len(uri)) * uriWeight
		delete(u.known, uri)
	}
}

// Bytes is what all of them take, each byte counted twice.
func (u *URIs) Bytes() int {
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes
}
