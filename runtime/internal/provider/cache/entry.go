package cache

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

// An entry is the answer to one read. It does not change.
type entry struct {
	contents []content // nil of an entry that only marks its URI as cacheable
	scope    abi.CacheScope
	until    time.Time
}

// A content is one content of an answer. Its head has no bytes.
type content struct {
	head abi.Content
	body []byte
}

// isGood reports whether the entry may answer reads.
func (e *entry) isGood() bool { return e.contents != nil && time.Now().Before(e.until) }

// entryCost returns the bytes that an entry takes.
func entryCost(uri string, e *entry) int64 {
	n := overhead + len(uri)
	for i := range e.contents {
		n += e.contents[i].size()
	}
	return int64(n)
}

func (c *content) size() int {
	h := &c.head
	return overhead + len(c.body) + len(h.URI) + len(h.MIMEType) + len(h.ETag) + len(h.LastModified) + len(h.Meta)
}

// replay passes the contents to sink, and returns the reply with the remaining time to live.
func (e *entry) replay(sink abi.Sink) (*abi.Reply, error) {
	for i := range e.contents {
		head := e.contents[i].head
		if err := sink.Content(&head); err != nil {
			return nil, err
		}
		if err := sink.Body(e.contents[i].body); err != nil {
			return nil, err
		}
	}
	left := max(time.Until(e.until).Milliseconds(), 1)
	return &abi.Reply{TTLMillis: uint64(left), CacheScope: e.scope}, nil
}
