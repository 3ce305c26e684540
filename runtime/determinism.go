package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/wasi"
)

// head is how long before Determinism.Time an instance starts, so that what it finds to be now while it starts is in
// the past later.
const head = time.Hour

// A virtual world is that of one instance under Determinism. It implements [wasi.World].
type virtual struct {
	// fixed at creation
	guest.Determinism
	timeout time.Duration
	late    func() *abi.Error // of who sleeps too long

	now    time.Duration // since Time
	due    time.Duration // when what is under way must have ended
	calls  uint64        // since the instance was as the image
	random rand.ChaCha8
}

// newVirtual makes the world of an instance that starts; nil where guests see the real one.
func (l *local) newVirtual() *virtual {
	if l.Determinism == nil {
		return nil
	}
	v := &virtual{Determinism: *l.Determinism, timeout: l.Limits.Timeout, late: l.Host.DeadlineError, now: -head}
	v.begin(abi.OpDescribe, nil)
	return v
}

// begin gets ready for a call.
func (v *virtual) begin(op abi.Op, request []byte) {
	v.due = v.now + v.timeout
	b := binary.LittleEndian.AppendUint64(nil, v.Seed)
	b = binary.LittleEndian.AppendUint64(b, v.calls)
	b = binary.LittleEndian.AppendUint32(b, uint32(op))
	v.random.Seed(sha256.Sum256(append(b, request...)))
	v.calls++
}

// started ends the start of an instance.
func (v *virtual) started() { v.restore(max(v.now, 0)) }

// restore is part of putting an instance back to the image, which was made then.
func (v *virtual) restore(then time.Duration) { v.now, v.calls = then, 1 }

// left is the time until the call under way is over.
func (v *virtual) left() time.Duration {
	v.now += guest.Look
	return max(v.due-v.now, 0)
}

// Now implements [wasi.World].
func (v *virtual) Now(c wasi.Clock) uint64 {
	v.now += guest.Look
	if c == wasi.Monotonic {
		return uint64(head + v.now)
	}
	return uint64(v.Time.UnixNano() + int64(v.now))
}

// Sleep implements [wasi.World].
func (v *virtual) Sleep(_ context.Context, d time.Duration) {
	if v.now += d; v.now > v.due {
		panic(engine.Stop{Err: v.late()})
	}
}

// Random implements [wasi.World].
func (v *virtual) Random(p []byte) { _, _ = v.random.Read(p) } // never fails

// World implements [wasi.Host].
func (s *sandbox) World() wasi.World {
	if s.virtual != nil {
		return s.virtual
	}
	return realWorld{sandbox: s}
}

// realWorld lets a guest that sleeps let go of its thread.
type realWorld struct {
	wasi.Real
	sandbox *sandbox
}

// Sleep implements [wasi.World].
func (w realWorld) Sleep(ctx context.Context, d time.Duration) {
	w.sandbox.memory.Loosen()
	w.Real.Sleep(ctx, d)
}

// begin gets the world ready for a call.
func (s *sandbox) begin(c *Call) error {
	if s.virtual == nil {
		return nil
	}
	request, err := s.encode(c)
	if err != nil {
		return err
	}
	s.virtual.begin(c.Op, request)
	s.erase()
	return nil
}

// unforeseeable gives a number nobody can foresee who does not know Determinism.
func (s *sandbox) unforeseeable() uint64 {
	if s.virtual != nil {
		return s.virtual.random.Uint64()
	}
	return rand.Uint64()
}

// left is the time the guest has left for its call.
func (s *sandbox) left() time.Duration {
	if s.virtual != nil {
		return s.virtual.left()
	}
	deadline, _ := s.ctx.Deadline()
	return max(time.Until(deadline), 0)
}
