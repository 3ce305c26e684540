package protocol

import (
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A Call asks the worker to run one operation.
type Call struct {
	Seq     uint64 // the call's number, unique on its link; it is in the header, so Decode does not set it
	Op      abi.Op
	Timeout time.Duration // never negative
	Session string        // at most [MaxSession] bytes; empty when there is none
	Request []byte        // an encoded [abi.Request] of at most [abi.MaxRequest] bytes
}

const callSize = 4 + 8 + 4

// Kind implements [Message].
func (*Call) Kind() Kind { return KindCall }

// Check implements [Message].
func (m *Call) Check() error {
	switch {
	case m.Timeout < 0:
		return fmt.Errorf("timeout of %v", m.Timeout)
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
	b = order.AppendUint32(b, uint32(len(m.Session)))
	b = append(b, m.Session...)
	return append(b, m.Request...)
}

// Decode fills m from a payload. Request is a view of it.
func (m *Call) Decode(p []byte) error {
	r := reader{rest: p}
	m.Op, m.Timeout = abi.Op(r.uint32()), time.Duration(r.uint64())
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
