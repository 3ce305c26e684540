package subscribe

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// maxComparedBytes is how much of a resource without an etag is read to compare it.
const maxComparedBytes = 4 << 20

// A version identifies the contents of a resource. Two that are equal and known stand for the same contents.
type version struct {
	known  bool     // else it cannot be compared
	failed abi.Code // of a read that fails in the same way each time; CodeOK for one with contents
	etag   string
	sum    [sha256.Size]byte // of etags, and of the bytes that have none
}

// A lastSeen is the version of a resource when it was checked last. The holder of turn alone may use the other fields.
type lastSeen struct {
	op    abi.Op        // how the guest is asked; fixed at creation
	turn  chan struct{} // holds a token while the resource is checked
	last  version
	first time.Time // when the guest had answered the first known version
	early bool      // the first known version is from before the first subscriber was accepted

	checked chan struct{} // closed after the first check; fixed at creation
}

func newLastSeen(polls bool) lastSeen {
	v := lastSeen{op: abi.OpRead, turn: make(chan struct{}, 1), checked: make(chan struct{})}
	if polls {
		v.op = abi.OpPoll
	}
	return v
}

// acquire waits for the turn, which the caller releases.
func (v *lastSeen) acquire(ctx context.Context) error {
	select {
	case v.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *lastSeen) release() { <-v.turn }

// check asks the guest for the version of uri, and reports a change when that differs from the last one. Where the two
// cannot be compared, check reports a change if a feed has: since is when that may have happened, zero for no feed. The
// error is that of ctx.
func (b *Broker) check(ctx context.Context, uri string, since time.Time) error {
	sub := b.find(uri)
	if sub == nil {
		return nil
	}
	v := &sub.seen
	if err := v.acquire(ctx); err != nil {
		return err
	}
	defer v.release()
	if b.find(uri) != sub {
		return nil // it has ended meanwhile
	}
	now := b.versionOf(ctx, uri, v)
	if err := ctx.Err(); err != nil {
		return err
	}
	accepted := b.isAccepted(sub)
	comparable := now.known && v.last.known
	unknown := !comparable || !v.early && v.first.After(since) // whether there was a change since then
	switch {
	case comparable && now != v.last, unknown && !since.IsZero() && accepted:
		b.Publish(ctx, uri)
	case !v.last.known:
		b.cfg.OnChange(uri) // what is cached may be older than now: a change between the two would not be reported
	}
	if !v.last.known {
		v.first, v.early = time.Now(), !accepted
	}
	if now.known || !since.IsZero() {
		v.last = now
	}
	v.setChecked()
	return nil
}

// setChecked says that the resource has been checked. The caller has the turn.
func (v *lastSeen) setChecked() {
	select {
	case <-v.checked:
	default:
		close(v.checked)
	}
}

// checkUnchecked checks subscriptions that never were, one after the other, so that later versions can be compared.
func (b *Broker) checkUnchecked() {
	for uri, ok := b.unchecked.Take(); ok; uri, ok = b.unchecked.Take() {
		_ = b.check(b.ctx, uri, time.Time{}) // the only error is that of b.ctx
	}
}

// checkAll checks uris, several at a time, after a feed has reported a change.
func (b *Broker) checkAll(uris []string, since time.Time) {
	b.forEach(b.ctx, len(uris), func(i int) {
		_ = b.check(b.ctx, uris[i], since) // the only error is that of b.ctx
	})
}

// versionOf asks the guest for the present version of uri.
func (b *Broker) versionOf(ctx context.Context, uri string, seen *lastSeen) version {
	sink := versionSink{sum: sha256.New()}
	_, err := b.callBackground(ctx, seen.op, uri, seen.last.etag, &sink)
	switch {
	case sink.unchanged:
		return seen.last
	case sink.large && sink.etags[len(sink.etags)-1] != "":
		err = nil // the etag is enough
	}
	switch {
	case isSteady(abi.CodeOf(err)):
		return version{known: true, failed: abi.CodeOf(err)}
	case err != nil:
		b.cfg.Logger.Debug("subscribed resource could not be checked", "op", seen.op.String(), "code", abi.CodeOf(err).String())
		return version{}
	}
	v := version{known: true, sum: [sha256.Size]byte(sink.sum.Sum(nil))}
	if len(sink.etags) == 1 {
		v.etag = sink.etags[0]
	}
	return v
}

// isSteady reports whether a read that fails with code tells the state of the resource. Others fail for the moment, or
// since they exceed a limit, whatever the resource is.
func isSteady(code abi.Code) bool {
	switch code {
	case abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeDenied, abi.CodeUnsupported, abi.CodeInternal:
		return true
	}
	return false
}

// A versionSink makes a version of contents: of their etags, and of the bytes of those that have none.
type versionSink struct {
	unchanged bool
	etags     []string // of each content
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
	s.etags = append(s.etags, c.ETag)
	fmt.Fprintf(s.sum, "%q %q %q\n", c.URI, c.MIMEType, c.ETag)
	return nil
}

// Body implements [abi.Sink].
func (s *versionSink) Body(p []byte) error {
	if s.bytes += len(p); s.bytes > maxComparedBytes {
		s.large = true
		return errEnough
	}
	if s.etags[len(s.etags)-1] == "" {
		s.sum.Write(p)
	}
	return nil
}

// Progress implements [abi.Sink].
func (s *versionSink) Progress(abi.Progress) {}
