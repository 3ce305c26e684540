package provider

import (
	"context"
	"crypto/sha256"
	"errors"
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
	sum   [sha256.Size]byte // without an etag
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

// poll gives what there is of a URI that is watched; nil when it is not.
func (h *hub) poll(uri string) *poll {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.polls[uri]
}

// ask gives the version of uri there is now.
func (h *hub) ask(ctx context.Context, uri string, v *versioned) version {
	seen := versionSink{sum: sha256.New()}
	_, err := h.inTurn(ctx, v.op, uri, v.last.etag, &seen)
	switch {
	case seen.unchanged:
		return v.last
	case seen.etag != "":
		return version{known: true, etag: seen.etag}
	case abi.CodeOf(err) == abi.CodeNotFound:
		return version{known: true, gone: true}
	case err != nil:
		h.log.Debug("what is watched could not be looked at", "op", v.op.String(), "code", abi.CodeOf(err).String())
		return version{}
	}
	return version{known: true, sum: [sha256.Size]byte(seen.sum.Sum(nil))}
}

// A versionSink makes a version of contents, and refuses them once it knows enough.
type versionSink struct {
	unchanged bool
	etag      string
	sum       hash.Hash
	bytes     int
}

var errEnough = errors.New("the version is known")

// Content implements [abi.Sink].
func (s *versionSink) Content(c *abi.Content) error {
	if s.unchanged, s.etag = c.NotModified, c.ETag; s.unchanged || s.etag != "" {
		return errEnough
	}
	s.sum.Write([]byte(c.URI + "\x00" + c.MIMEType + "\x00"))
	return nil
}

// Body implements [abi.Sink].
func (s *versionSink) Body(p []byte) error {
	if s.bytes += len(p); s.bytes > maxCompared {
		return errEnough
	}
	s.sum.Write(p)
	return nil
}

// Progress implements [abi.Sink].
func (s *versionSink) Progress(abi.Progress) {}
