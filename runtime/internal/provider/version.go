package provider

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// maxCompared is the bytes of a resource without an etag that are read to see whether it has changed.
const maxCompared = 4 << 20

// A version tells what a resource was from what it is. Of two that are equal one may be given for the other.
type version struct {
	known bool // else nothing can be told
	gone  bool
	etag  string
	sum   [sha256.Size]byte // of etags, and of the bytes that have none
}

// A versioned is what was last seen of a resource that is watched.
type versioned struct {
	op    abi.Op        // how the guest is asked
	turn  chan struct{} // who has it may ask, and use what follows
	last  version
	first time.Time // when the guest was asked for the first version, with which others are compared
}

func newVersioned(polls bool) versioned {
	v := versioned{op: abi.OpRead, turn: make(chan struct{}, 1)}
	if polls {
		v.op = abi.OpPoll
	}
	return v
}

// take waits for the turn, which is to be given back.
func (v *versioned) take(ctx context.Context) error {
	select {
	case v.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *versioned) giveBack() { <-v.turn }

// check asks the guest for the version of uri, and tells who watches it when that is another one than before. Where that
// cannot be known it tells them too, if there has been a change since some time; the zero time is for none. The error is
// that of ctx.
func (h *hub) check(ctx context.Context, uri string, since time.Time) error {
	p := h.poll(uri)
	if p == nil {
		return nil
	}
	v := &p.version
	if err := v.take(ctx); err != nil {
		return err
	}
	defer v.giveBack()
	if h.poll(uri) != p {
		return nil // nobody watches it any more, or somebody else does
	}
	began := time.Now()
	now := h.ask(ctx, uri, v)
	if err := ctx.Err(); err != nil {
		return err
	}
	told := now.known && v.last.known
	blind := !told || v.first.After(since)
	if told && now != v.last || blind && !since.IsZero() {
		h.publish(ctx, uri)
	}
	if !v.last.known {
		v.first = began
	}
	if now.known || !since.IsZero() {
		v.last = now
	}
	return nil
}

// lookLocked has what is fresh looked at, one after the other, so that later versions can be compared with it.
func (h *hub) lookLocked() {
	if h.looking || h.closed {
		return
	}
	h.looking = true
	h.done.Go(func() {
		for uri, ok := h.nextFresh(); ok; uri, ok = h.nextFresh() {
			_ = h.check(h.ctx, uri, time.Time{}) // which ends when h.ctx does
		}
	})
}

// nextFresh gives something that is fresh; with nothing left the looking is over.
func (h *hub) nextFresh() (uri string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for uri = range h.fresh {
		delete(h.fresh, uri)
		return uri, true
	}
	h.looking = false
	return "", false
}

// poll gives what there is of a URI that is watched; nil when it is not.
func (h *hub) poll(uri string) *poll {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.polls[uri]
}

// ask gives the version of uri there is now.
func (h *hub) ask(ctx context.Context, uri string, asked *versioned) version {
	seen := versionSink{sum: sha256.New()}
	_, err := h.inTurn(ctx, asked.op, uri, asked.last.etag, &seen)
	switch {
	case seen.unchanged:
		return asked.last
	case seen.large && seen.contents[len(seen.contents)-1] != "":
		err = nil // its etag will do
	}
	switch {
	case abi.CodeOf(err) == abi.CodeNotFound:
		return version{known: true, gone: true}
	case err != nil:
		h.log.Debug("what is watched could not be looked at", "op", asked.op.String(), "code", abi.CodeOf(err).String())
		return version{}
	}
	v := version{known: true, sum: [sha256.Size]byte(seen.sum.Sum(nil))}
	if len(seen.contents) == 1 {
		v.etag = seen.contents[0]
	}
	return v
}

// A versionSink makes a version of contents: of their etags, and of the bytes of those that have none.
type versionSink struct {
	unchanged bool
	contents  []string // etags
	sum       hash.Hash
	bytes     int
	large     bool // not all of it was read
}

var errEnough = errors.New("enough is known of the version")

// Content implements [abi.Sink].
func (s *versionSink) Content(c *abi.Content) error {
	if s.unchanged = c.NotModified; s.unchanged {
		return errEnough
	}
	s.contents = append(s.contents, c.ETag)
	fmt.Fprintf(s.sum, "%q %q %q\n", c.URI, c.MIMEType, c.ETag)
	return nil
}

// Body implements [abi.Sink].
func (s *versionSink) Body(p []byte) error {
	if s.bytes += len(p); s.bytes > maxCompared {
		s.large = true
		return errEnough
	}
	if s.contents[len(s.contents)-1] == "" {
		s.sum.Write(p)
	}
	return nil
}

// Progress implements [abi.Sink].
func (s *versionSink) Progress(abi.Progress) {}
