package protocol

import (
	"fmt"
	"math"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// A Call asks the worker to run one operation.
type Call struct {
	Seq     uint64 // the call's number, unique on its link; it is in the header, so Decode does not set it
	Op      abi.Op
	Timeout time.Duration // never negative
	Origin  guest.Origin  // its time is from 1971 to 2199, or zero
	Session string        // at most [MaxSession] bytes; empty when there is none
	Request []byte        // an encoded [abi.Request] of at most [abi.MaxRequest] bytes
}

const (
	callSize   = 4 + 8 + 1 + 4
	originSize = 8 + 8 + 1 + 8 + 4
)

// Kind implements [Message].
func (*Call) Kind() Kind { return KindCall }

// Check implements [Message].
func (m *Call) Check() error {
	switch {
	case m.Timeout < 0:
		return fmt.Errorf("timeout of %v", m.Timeout)
	case m.Origin.Stop != nil && (m.Origin.Stop.HostCalls < 0 || m.Origin.Stop.HostCalls > math.MaxUint32):
		return fmt.Errorf("stop after %d calls of the host", m.Origin.Stop.HostCalls)
	case len(m.Session) > MaxSession:
		return tooLong("session", len(m.Session), MaxSession)
	case len(m.Request) > abi.MaxRequest:
		return tooLong("request", len(m.Request), abi.MaxRequest)
	}
	return nil
}

// Append implements [Message].
func (m *Call) Append(b []byte) []byte {
	b = order.AppendUint32(b, uint32(m.Op))
	b = order.AppendUint64(b, uint64(m.Timeout))
	b = appendOrigin(b, &m.Origin)
	b = order.AppendUint32(b, uint32(len(m.Session)))
	b = append(b, m.Session...)
	return append(b, m.Request...)
}

// Decode fills m from a payload. Request is a view of it.
func (m *Call) Decode(p []byte) error {
	r := reader{rest: p}
	m.Op, m.Timeout = abi.Op(r.uint32()), time.Duration(r.uint64())
	m.Origin = r.origin()
	m.Session = string(r.bytes(uint64(r.uint32()), MaxSession))
	m.Request = r.bytes(uint64(len(r.rest)), abi.MaxRequest)
	if err := r.end(KindCall); err != nil {
		return err
	}
	if m.Timeout < 0 {
		return malformed(KindCall, "timeout is negative")
	}
	return nil
}

// The bits of an origin.
const (
	originStops uint8 = 1 << iota
	originIsPatient
)

// appendOrigin appends a byte that says whether there is an origin, and the origin.
func appendOrigin(b []byte, o *guest.Origin) []byte {
	if o.IsZero() {
		return append(b, 0)
	}
	var bits uint8
	var stop guest.Point
	if o.Stop != nil {
		bits, stop = originStops, *o.Stop
	}
	if o.Patient {
		bits |= originIsPatient
	}
	var nanos uint64
	if !o.Time.IsZero() {
		nanos = uint64(o.Time.UnixNano())
	}
	b = order.AppendUint64(append(b, 1), nanos)
	b = append(order.AppendUint64(b, o.Seed), bits)
	b = order.AppendUint64(b, stop.Fuel)
	return order.AppendUint32(b, uint32(stop.HostCalls))
}

// origin reads what appendOrigin has appended, and nothing else.
func (r *reader) origin() (o guest.Origin) {
	switch r.uint8() {
	case 0:
		return o
	case 1:
	default:
		r.bad = true
		return o
	}
	if nanos := r.uint64(); nanos != 0 {
		o.Time = time.Unix(0, int64(nanos)).UTC()
	}
	o.Seed = r.uint64()
	bits := r.uint8()
	stop := guest.Point{Fuel: r.uint64(), HostCalls: int(r.uint32())}
	o.Patient = bits&originIsPatient != 0
	if bits&originStops != 0 {
		o.Stop = &stop
	} else if stop != (guest.Point{}) {
		r.bad = true
	}
	if bits&^(originStops|originIsPatient) != 0 || o.IsZero() {
		r.bad = true
	}
	return o
}
