package mcp

import (
	"sync"
	"time"
)

const (
	maxPages     = 8 << 20 // bytes of all pages that are kept, with their cursors
	maxPageBytes = 1 << 20 // of one
	pageOverhead = 256     // bytes that keeping one takes, about
)

// pages keeps encoded pages of lists that their source says are the same for everybody for a while. The zero pages is
// empty. It is safe for concurrent use.
type pages struct {
	mu    sync.Mutex // guards the fields below
	kept  map[pageKey]page
	order []pageKey // oldest first
	bytes int       // of what is kept, all told
}

type pageKey struct {
	cursor string
	links  bool
}

type page struct {
	body    []byte // members of the result; not to be changed
	version uint64 // of the list
	until   time.Time
}

// find gives a page of that version of the list, and for how long it stays good.
func (p *pages) find(key pageKey, version uint64) (body []byte, left time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, ok := p.kept[key]
	if !ok {
		return nil, 0
	}
	if left = time.Until(kept.until); left <= 0 || kept.version != version {
		return nil, 0
	}
	return kept.body, left
}

// keep keeps a page, of which it makes a copy.
func (p *pages) keep(key pageKey, body []byte, version uint64, ttl time.Duration) {
	size := len(body) + len(key.cursor) + pageOverhead
	if size > maxPageBytes {
		return
	}
	kept := page{body: append([]byte(nil), body...), version: version, until: time.Now().Add(ttl)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if old, ok := p.kept[key]; ok {
		p.bytes += len(body) - len(old.body)
	} else {
		p.bytes += size
		p.order = append(p.order, key)
	}
	if p.kept == nil {
		p.kept = make(map[pageKey]page)
	}
	p.kept[key] = kept
	for p.bytes > maxPages {
		p.bytes -= len(p.kept[p.order[0]].body) + len(p.order[0].cursor) + pageOverhead
		delete(p.kept, p.order[0])
		p.order = p.order[1:]
	}
}
