package mcp

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/wire"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// part is how much of a long answer leaves at once, in bytes: little enough to stay in the processor's cache.
const part = 256 << 10

// full reports whether the answer has outgrown the budget and may leave.
func (r *request) full() bool { return r.outlet.Flush != nil && len(r.out)-r.kept >= r.budget }

// spill lets go what there is of the answer. From then on it leaves a part at a time.
func (r *request) spill() error {
	err := r.outlet.Flush(r.out[r.kept:])
	r.out, r.budget, r.sent = r.out[:r.kept], min(r.budget, part), true
	if cap(r.out) > 4*part { // which the parts to come do not need
		small := append(r.core.buffers.Take(2*part), r.out...)
		r.core.buffers.Give(r.out)
		r.out = small
	}
	r.count()
	if err != nil {
		return abi.Errorf(abi.CodeCancelled, "the client does not take the answer").Because(err)
	}
	return nil
}

// counted is how many bytes of a buffer of that capacity are counted as in flight.
func counted(capacity int) int {
	if capacity <= inflight.Free {
		return 0
	}
	return capacity
}

// count has out counted for what it is, where it has grown by itself.
func (r *request) count() {
	if now := counted(cap(r.out)); now != r.held {
		r.recount(now)
	}
}

func (r *request) recount(now int) {
	if more := now - r.held; more > 0 {
		r.core.cfg.InFlight.Force(more)
	} else {
		r.core.cfg.InFlight.Release(-more)
	}
	r.held = now
}

// giveUp counts out no more.
func (r *request) giveUp() { r.recount(0) }

// grow makes room in out for n bytes more, and counts it as in flight. It reports false, and has done nothing, when the
// budget has no room for that.
func (r *request) grow(n int) bool {
	if cap(r.out)-len(r.out) >= n {
		return true
	}
	r.count()
	more := max(counted(wire.Grown(r.out, n))-r.held, 0)
	if more > 0 && !r.core.cfg.InFlight.Reserve(more) {
		return false
	}
	r.held += more
	r.out = r.core.buffers.Grow(r.out, n)
	r.count()
	return true
}

// makeRoom makes room in out for n bytes more. Where there is none, what there is of the answer leaves, if it may.
func (r *request) makeRoom(n int) error {
	if r.tight == 0 && r.grow(n) {
		return nil
	}
	if err := r.tighten(); err != nil {
		return err
	}
	if len(r.out) > r.kept && cap(r.out)-len(r.out) < n {
		if err := r.spill(); err != nil {
			return err
		}
	}
	if !r.grow(n) {
		return r.core.crowded()
	}
	return nil
}

// worst is how many bytes one byte of text takes at most when it is escaped.
const worst = 6

// fit gives how many of n bytes of text can be appended to out at once, so that it does not grow by itself, whatever has
// to be escaped, but by a little.
func (r *request) fit(n int) int {
	if r.tight > 0 {
		return min(n, r.tight)
	}
	const little = 2 << 10
	if free := cap(r.out) - len(r.out); n > little && n*worst > free {
		return min(n, max(free/worst, little))
	}
	return n
}

// tighten has the answer leave in parts that are small enough for the buffer it has, since the budget of answers in
// flight has no room for a larger one.
func (r *request) tighten() error {
	switch {
	case r.outlet.Flush == nil:
		return r.core.crowded()
	case r.tight > 0:
		return nil
	case cap(r.out) < inflight.Free:
		r.out = r.core.buffers.Grow(r.out, inflight.Free-len(r.out))
	}
	r.count()
	r.budget = min(r.budget, cap(r.out)/2)
	r.tight = cap(r.out) / 2 / (worst + 1)
	return nil
}

// crowded is the failure of an answer that the budget has no room for.
func (c *Core) crowded() error { return inflight.Busy(c.cfg.Patience) }

// pass lets go what there is of the answer, if it is much.
func (r *request) pass() error {
	r.count()
	if !r.full() {
		return nil
	}
	return r.spill()
}

// appendLong appends text that may be long, escaped as a JSON string or, when raw, as it is.
func (r *request) appendLong(text []byte, raw bool) error {
	var escaped wire.Text
	for len(text) > 0 {
		n := min(len(text), part)
		if r.tight > 0 {
			n = min(n, r.tight)
		}
		if err := r.makeRoom(n); err != nil {
			return err
		}
		if n = r.fit(n); raw {
			r.out = append(r.out, text[:n]...)
		} else {
			r.out, _ = escaped.Append(r.out, text[:n]) // it is UTF-8
		}
		if err := r.pass(); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
