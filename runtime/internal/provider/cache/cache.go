// Package cache answers reads of a provider from earlier answers, where the guest allows that.
package cache

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/lru"
)

const (
	maxEntryBytes = 1 << 20  // of the contents of one answer that is stored
	maxBytes      = 32 << 20 // of all entries, with overhead
	overhead      = 512      // bytes that an entry takes, and each of its contents, besides their text; an estimate
)

// A Cache stores the answers to reads by URI, for as long as the guest allows (see [IsCacheable]) and for one hour at
// most: up to 1 MiB each and 32 MiB in all. Reads of a URI that is being fetched wait for that fetch. A Cache is safe
// for concurrent use.
type Cache struct {
	entries *lru.Cache[string, *entry] // by URI in normal form
	used    atomic.Bool                // there is an entry or a fetch, or was one

	mu       sync.Mutex // guards the field below, and changes of entries together with it
	inflight map[string]*fetch
}

// A fetch is a read of the guest for which other reads of the same URI wait.
type fetch struct {
	done  chan struct{} // closed at its end, with or without an entry
	stale bool          // the resource has changed since it began; guarded by Cache.mu
}

// A ReadFunc reads one URI from the guest, and passes the contents to sink.
type ReadFunc func(sink abi.Sink) (*abi.Reply, error)

// New makes an empty cache.
func New() *Cache { return &Cache{entries: lru.New(maxBytes, entryCost)} }

// IsCacheable reports whether the guest allows that other clients get the same answer: it has a TTL and is public.
func IsCacheable(reply *abi.Reply) bool {
	return reply.TTLMillis > 0 && reply.CacheScope == abi.CachePublic
}

// InUse reports whether any answer has been cacheable. Until then, a read whose URI is not known to be cacheable need
// not use the cache.
func (c *Cache) InUse() bool { return c.used.Load() }

// Read answers from the entry of uri, which is in normal form, or by read, whose answer it stores if that is cacheable.
// If an answer is expected to be cacheable, since the caller says so or an earlier one was, one read fetches it. The
// others wait: for its end, until ctx ends, or until its client turns out to be slow.
func (c *Cache) Read(
	ctx context.Context, uri string, cacheable bool, sink abi.Sink, read ReadFunc,
) (*abi.Reply, error) {
	found, f, mine := c.find(uri, cacheable)
	for f != nil && !mine {
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		found, f, mine = c.find(uri, false)
	}
	switch {
	case found != nil:
		return found.replay(sink)
	case mine:
		return c.fetch(uri, f, sink, read)
	}
	reply, err := read(sink)
	if err == nil && IsCacheable(reply) {
		c.MarkCacheable(uri)
	}
	return reply, err
}

// fetch reads for all reads that wait for f.
func (c *Cache) fetch(uri string, f *fetch, sink abi.Sink, read ReadFunc) (*abi.Reply, error) {
	abandon := func() { c.finish(uri, f, nil) }
	defer abandon() // also when read panics
	capture := &captureSink{Sink: sink, release: abandon}
	reply, err := read(capture)
	c.finish(uri, f, capture.entry(reply, err))
	return reply, err
}

// find returns the valid entry of uri; or a fetch to wait for; or a new fetch that belongs to the caller, if the answer
// is expected to be cacheable; or nothing.
func (c *Cache) find(uri string, cacheable bool) (found *entry, f *fetch, mine bool) {
	if e, ok := c.entries.Get(uri); ok && e.isGood() {
		return e, nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(uri) // again, since a fetch may have ended meanwhile
	if ok && e.isGood() {
		return e, nil, false
	}
	if f := c.inflight[uri]; f != nil {
		return nil, f, false
	}
	if !cacheable && !ok {
		return nil, nil, false
	}
	if c.inflight == nil {
		c.inflight = make(map[string]*fetch)
	}
	c.used.Store(true)
	f = &fetch{done: make(chan struct{})}
	c.inflight[uri] = f
	return nil, f, true
}

// MarkCacheable records that answers to reads of uri are cacheable, so that the next read fetches.
func (c *Cache) MarkCacheable(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries.Get(uri); !ok {
		c.used.Store(true)
		c.entries.Put(uri, &entry{})
	}
}

// finish ends a fetch, unless it has ended, and stores its entry; nil stores nothing.
func (c *Cache) finish(uri string, f *fetch, got *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inflight[uri] != f {
		return
	}
	delete(c.inflight, uri)
	close(f.done)
	switch {
	case got == nil:
		c.entries.Remove(uri)
	case !f.stale:
		c.entries.Put(uri, got)
	}
}

// Invalidate discards the entry of uri, or all entries when uri is empty. Answers of fetches under way are not stored.
func (c *Cache) Invalidate(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, f := range c.inflight {
		f.stale = f.stale || uri == "" || at == uri
	}
	if uri != "" {
		c.entries.Remove(uri)
		return
	}
	c.entries.Clear()
}
