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

// A fake is the system of one instance under a [guest.Clock]. It implements [wasi.System].
type fake struct {
	// fixed at creation
	guest.Clock
	timeout time.Duration
	late    func() *abi.Error // the error of a guest that sleeps too long

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
	v := &fake{Clock: *f.Clock, timeout: f.Limits.Timeout, late: f.Host.DeadlineError, now: -startOffset}
	v.begin(abi.OpDescribe, nil)
	return v
}

// begin prepares the system for a call.
func (v *fake) begin(op abi.Op, request []byte) {
	v.due = v.now + v.timeout
	b := binary.LittleEndian.AppendUint64(nil, v.Seed)
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

// Now implements [wasi.System].
func (v *fake) Now(c wasi.Clock) uint64 {
	v.now += guest.ClockStep
	if c == wasi.Monotonic {
		return uint64(startOffset + v.now)
	}
	return uint64(v.Time.UnixNano() + int64(v.now))
}

// Sleep implements [wasi.System].
func (v *fake) Sleep(_ context.Context, d time.Duration) {
	if v.now += d; v.now > v.due {
		panic(engine.Stop{Err: v.late()})
	}
}

// Random implements [wasi.System].
func (v *fake) Random(p []byte) { _, _ = v.random.Read(p) } // never fails

var _ wasi.Host = (*Instance)(nil) // for the functions of WASI

// System implements [wasi.Host].
func (s *Instance) System() wasi.System {
	if s.fake != nil {
		return s.fake
	}
	return realSystem{instance: s}
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

// begin prepares the fake system for a call.
func (s *Instance) begin(c *guest.Call) error {
	if s.fake == nil {
		return nil
	}
	request, err := s.encode(c)
	if err != nil {
		return err
	}
	s.fake.begin(c.Op, request)
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
