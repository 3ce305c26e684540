package cache

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	maxTTL     = time.Hour
	slowClient = 20 * time.Millisecond // how long a client may take for one write before other reads stop waiting
)

// A captureSink is an [abi.Sink] that copies the contents that it passes on, up to maxEntryBytes.
type captureSink struct {
	abi.Sink
	release   func() // ends the waiting of other reads; safe for concurrent use
	contents  []content
	bytes     int
	abandoned bool // the answer is too large, or not whole
}

// Unwrap returns the wrapped sink, which may be one that blocks.
func (s *captureSink) Unwrap() abi.Sink { return s.Sink }

// Content implements [abi.Sink].
func (s *captureSink) Content(c *abi.Content) error {
	head := *c
	head.Inline, head.Size = nil, 0
	s.contents = append(s.contents, content{head: head})
	s.count(s.contents[len(s.contents)-1].size())
	if c.NotModified || c.RangeTotal > 0 {
		s.abandon()
	}
	defer s.releaseAfter(slowClient).Stop()
	return s.Sink.Content(c)
}

// Body implements [abi.Sink].
func (s *captureSink) Body(p []byte) error {
	if s.count(len(p)); !s.abandoned {
		last := &s.contents[len(s.contents)-1]
		last.body = append(last.body, p...)
	}
	defer s.releaseAfter(slowClient).Stop()
	return s.Sink.Body(p)
}

// releaseAfter ends the waiting of other reads after d, unless the timer is stopped before.
func (s *captureSink) releaseAfter(d time.Duration) *time.Timer { return time.AfterFunc(d, s.release) }

func (s *captureSink) count(n int) {
	if s.bytes += n; s.bytes > maxEntryBytes {
		s.abandon()
	}
}

func (s *captureSink) abandon() {
	if !s.abandoned {
		s.abandoned, s.contents = true, nil
		s.release()
	}
}

// entry returns the captured answer of a read that ended with reply and err; nil when it must not be stored.
func (s *captureSink) entry(reply *abi.Reply, err error) *entry {
	if err != nil || s.abandoned || !IsCacheable(reply) {
		return nil
	}
	ttl := min(time.Duration(min(reply.TTLMillis, uint64(maxTTL/time.Millisecond)))*time.Millisecond, maxTTL)
	for i := range s.contents {
		c := &s.contents[i]
		c.head.Size = uint64(len(c.body))
	}
	return &entry{contents: s.contents, scope: reply.CacheScope, until: time.Now().Add(ttl)}
}
