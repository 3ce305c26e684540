package mcp

import (
	"slices"
	"time"

	"github.com/wasmres/wasmres/internal/lru"
)

const (
	maxPages     = 8 << 20 // bytes of all cached pages, with their cursors
	maxPageBytes = 1 << 20 // of one
	pageOverhead = 256     // bytes of memory for each besides, roughly
)

// A pageCache caches encoded pages of lists that their source declares public and cacheable. It is safe for concurrent
// use.
type pageCache struct{ pages *lru.Cache[pageKey, page] }

type pageKey struct {
	cursor string
	links  bool
}

type page struct {
	body    []byte // members of the result; not to be changed
	version uint64 // of the list
	until   time.Time
}

func newPageCache() pageCache { return pageCache{lru.New(maxPages, pageCost)} }

// pageCost is the bytes that caching a page takes.
func pageCost(key pageKey, p page) int64 { return int64(len(p.body) + len(key.cursor) + pageOverhead) }

// get returns a cached page of that version of the list, and how long it remains valid; nil when there is none.
func (c pageCache) get(key pageKey, version uint64) (body []byte, left time.Duration) {
	p, ok := c.pages.Get(key)
	if !ok || p.version != version {
		return nil, 0
	}
	if left = time.Until(p.until); left <= 0 {
		return nil, 0
	}
	return p.body, left
}

// put stores a copy of a page, unless it is too large.
func (c pageCache) put(key pageKey, body []byte, version uint64, ttl time.Duration) {
	p := page{body: body, version: version, until: time.Now().Add(ttl)}
	if pageCost(key, p) > maxPageBytes {
		return
	}
	p.body = slices.Clone(body)
	c.pages.Put(key, p)
}
