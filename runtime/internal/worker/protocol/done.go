package protocol

import (
	"errors"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// The longest texts of a [Done], in bytes.
const (
	maxMessage = 1 << 10
	maxData    = abi.MaxMeta
	maxCause   = 2 << 10
	maxStack   = 32 // functions

	maxRetryAfter = 24 * time.Hour
)

// A Done says how a call ended, and what it used. It is the last message of a call.
type Done struct {
	Code       abi.Code
	RetryAfter time.Duration // whole milliseconds, at most a day; zero when unknown
	Fuel       uint64
	HostCalls  uint32
	Memory     uint64   // of the guest, in bytes
	Message    string   // public; cut after 1 KiB
	Data       string   // public JSON text; left out when longer than [abi.MaxMeta]
	Cause      string   // for the log only; cut after 2 KiB
	Stack      []uint32 // functions of the guest that were running, innermost first; cut after 32
}

const doneSize = 4 + 4 + 8 + 4 + 8 + 2 + 2 + 2 + 2

// SetError fills in how the call ended; nil is success.
func (m *Done) SetError(err error) {
	var e *abi.Error
	m.Code, m.RetryAfter, m.Message, m.Data, m.Cause = abi.CodeOf(err), 0, "", "", ""
	m.Stack = nil
	switch {
	case err == nil:
	case !errors.As(err, &e) || e == nil:
		m.Cause = err.Error()
	default:
		m.Message, m.Data, m.RetryAfter = e.Message, e.Data, e.RetryAfter
		if e.Cause != nil {
			m.Cause = e.Cause.Error()
		}
		m.setStack(err)
	}
}

// setStack fills in the stack of the guest, and why it crashed, if err has a crash.
func (m *Done) setStack(err error) {
	var crash interface {
		error
		Functions() []uint32
	}
	if errors.As(err, &crash) {
		m.Cause, m.Stack = crash.Error(), crash.Functions()
	}
}

// Kind implements [Message]. A failed start has the same payload, with [KindFailed].
func (*Done) Kind() Kind { return KindDone }

// Check implements [Message].
func (*Done) Check() error { return nil }

// Append implements [Message].
func (m *Done) Append(b []byte) []byte {
	message, cause, data := truncate(m.Message, maxMessage), truncate(m.Cause, maxCause), m.Data
	stack := m.Stack[:min(len(m.Stack), maxStack)]
	if len(data) > maxData {
		data = ""
	}
	b = order.AppendUint32(b, uint32(m.Code))
	b = order.AppendUint32(b, uint32(max(0, min(m.RetryAfter, maxRetryAfter))/time.Millisecond))
	b = order.AppendUint64(b, m.Fuel)
	b = order.AppendUint32(b, m.HostCalls)
	b = order.AppendUint64(b, m.Memory)
	b = order.AppendUint16(b, uint16(len(message)))
	b = order.AppendUint16(b, uint16(len(data)))
	b = order.AppendUint16(b, uint16(len(cause)))
	b = order.AppendUint16(b, uint16(len(stack)))
	for _, function := range stack {
		b = order.AppendUint32(b, function)
	}
	b = append(b, message...)
	b = append(b, truncate(data, maxData)...)
	return append(b, cause...)
}

// Decode fills m from a payload. The texts are copied, and UTF-8.
func (m *Done) Decode(p []byte) error {
	r := reader{rest: p}
	m.Code = abi.Code(r.uint32())
	m.RetryAfter = time.Duration(r.uint32()) * time.Millisecond
	m.Fuel, m.HostCalls, m.Memory = r.uint64(), r.uint32(), r.uint64()
	message, data, cause := uint64(r.uint16()), uint64(r.uint16()), uint64(r.uint16())
	m.Stack = r.functions(uint64(r.uint16()))
	m.Message, m.Data, m.Cause = r.text(message, maxMessage), r.text(data, maxData), r.text(cause, maxCause)
	if err := r.end(KindDone); err != nil {
		return err
	}
	if m.RetryAfter > maxRetryAfter {
		return malformed(KindDone, "retry_after is more than a day")
	}
	return nil
}
