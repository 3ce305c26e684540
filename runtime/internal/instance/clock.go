package instance

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/wasi"
)

// startOffset is how long before Clock.Time an instance starts: times that the guest stores while it starts are in the
// past later.
const startOffset = time.Hour

// A fake has the time and the random numbers of one instance under a [guest.Clock].
type fake struct {
	// fixed at creation
	guest.Clock
	timeout time.Duration
	late    func() *abi.Error // the error of a guest that sleeps too long
	sleeps  bool              // sleeping takes its time

	now    time.Duration // since Time
	due    time.Duration // when the call under way must have ended
	calls  uint64        // since the instance was equal to the image
	random rand.ChaCha8
}

// newFake makes the fake system of an instance that starts; nil if guests use the real one.
func (f *Factory) newFake() *fake {
	if f.Clock == nil {
		return nil
	}
	v := &fake{Clock: *f.Clock, timeout: f.Limits.Timeout, late: f.Host.DeadlineError, sleeps: f.Records, now: -startOffset}
	v.begin(guest.Origin{}, abi.OpDescribe, nil)
	return v
}

// begin prepares the system for a call.
func (v *fake) begin(o guest.Origin, op abi.Op, request []byte) {
	seed := v.Seed
	if !o.Time.IsZero() {
		seed, v.now = o.Seed, max(v.now, o.Time.Sub(v.Time))
	}
	v.due = v.now + v.timeout
	b := binary.LittleEndian.AppendUint64(nil, seed)
	b = binary.LittleEndian.AppendUint64(b, v.calls)
	b = binary.LittleEndian.AppendUint32(b, uint32(op))
	v.random.Seed(sha256.Sum256(append(b, request...)))
	v.calls++
}

// started ends the start of an instance.
func (v *fake) started() { v.restore(max(v.now, 0)) }

// restore resets the system to its state in the image, which was made at then.
func (v *fake) restore(then time.Duration) { v.now, v.calls = then, 1 }

// left returns the remaining time of the call under way.
func (v *fake) left() time.Duration {
	v.now += guest.ClockStep
	return max(v.due-v.now, 0)
}

// read reads a clock, in nanoseconds.
func (v *fake) read(c wasi.Clock) uint64 {
	v.now += guest.ClockStep
	if c == wasi.Monotonic {
		return uint64(startOffset + v.now)
	}
	return uint64(v.Time.UnixNano() + int64(v.now))
}

// sleep passes the time of d.
func (v *fake) sleep(ctx context.Context, d time.Duration) {
	if v.sleeps {
		wasi.Real{}.Sleep(ctx, d)
	}
	if v.now += d; v.now > v.due && !v.sleeps {
		panic(engine.Stop{Err: v.late()})
	}
}

var _ wasi.Host = (*Instance)(nil) // for the functions of WASI

// System implements [wasi.Host].
func (s *Instance) System() wasi.System {
	if s.fake != nil {
		return fakeSystem{s}
	}
	return realSystem{instance: s}
}

// A fakeSystem is the system of an instance under a [guest.Clock].
type fakeSystem struct{ instance *Instance }

// Now implements [wasi.System].
func (w fakeSystem) Now(c wasi.Clock) uint64 { return w.instance.fake.read(c) }

// Random implements [wasi.System].
func (w fakeSystem) Random(p []byte) { _, _ = w.instance.fake.random.Read(p) } // never fails

// Sleep implements [wasi.System]. If the recorded call ended while it slept here, so does this one.
func (w fakeSystem) Sleep(ctx context.Context, d time.Duration) {
	w.instance.stopIfDone()
	if w.instance.fake.sleeps {
		w.instance.memory.StopTracking()
	}
	w.instance.fake.sleep(ctx, d)
}

// A realSystem is the system of the machine. Sleep releases the guest's thread.
type realSystem struct {
	wasi.Real
	instance *Instance
}

// Sleep implements [wasi.System].
func (w realSystem) Sleep(ctx context.Context, d time.Duration) {
	w.instance.memory.StopTracking()
	w.Real.Sleep(ctx, d)
}

// begin prepares the fake system for a call. It changes the clock and the random numbers, and never the guest.
func (s *Instance) begin(c *guest.Call) error {
	if s.fake == nil {
		return nil
	}
	request, err := s.encode(c)
	if err != nil {
		return err
	}
	s.fake.begin(c.Origin(), c.Op, request)
	s.erase()
	return nil
}

// randomSeed returns a random number, which depends on the Clock if there is one.
func (s *Instance) randomSeed() uint64 {
	if s.fake != nil {
		return s.fake.random.Uint64()
	}
	return rand.Uint64()
}

// left returns the remaining time of the guest's call.
func (s *Instance) left() time.Duration {
	if s.fake != nil {
		return s.fake.left()
	}
	deadline, _ := s.ctx.Deadline()
	return max(time.Until(deadline), 0)
}
