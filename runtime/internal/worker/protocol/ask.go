package protocol

import "github.com/wasmres/wasmres/abi"

// maxAnswer bounds the message of an answer, in bytes.
const maxAnswer = 1 << 20

// An Ask is a service call of the guest. The worker then reads an [Answer].
type Ask struct {
	Service abi.Service
	Request []byte // at most [abi.MaxService] bytes
}

// Kind implements [Message].
func (*Ask) Kind() Kind { return KindAsk }

// Check implements [Message].
func (m *Ask) Check() error {
	if len(m.Request) > abi.MaxService {
		return tooLong("request", len(m.Request), abi.MaxService)
	}
	return nil
}

// Append implements [Message].
func (m *Ask) Append(b []byte) []byte {
	return append(order.AppendUint32(b, uint32(m.Service)), m.Request...)
}

// Decode fills m from a payload. Request is a view of it.
func (m *Ask) Decode(p []byte) error {
	r := reader{rest: p}
	m.Service = abi.Service(r.uint32())
	m.Request = r.bytes(uint64(len(r.rest)), abi.MaxService)
	return r.end(KindAsk)
}

// An Answer is a service's answer. Its body follows in KindBody messages.
type Answer struct {
	Code     abi.Code
	BodySize uint32 // at most [MaxAnswerBody]
	Blocked  uint32 // milliseconds in all for which slow readers of this call have kept the parent busy
	Message  []byte // at most 1 MiB
}

const answerSize = 4 + 4 + 4

// Kind implements [Message].
func (*Answer) Kind() Kind { return KindAnswer }

// Check implements [Message].
func (m *Answer) Check() error {
	switch {
	case m.BodySize > MaxAnswerBody:
		return tooLong("body", int(m.BodySize), MaxAnswerBody)
	case len(m.Message) > maxAnswer:
		return tooLong("answer", len(m.Message), maxAnswer)
	}
	return nil
}

// Append implements [Message].
func (m *Answer) Append(b []byte) []byte {
	b = order.AppendUint32(b, uint32(m.Code))
	b = order.AppendUint32(b, m.BodySize)
	b = order.AppendUint32(b, m.Blocked)
	return append(b, m.Message...)
}

// Decode fills m from a payload. Message is a view of it.
func (m *Answer) Decode(p []byte) error {
	r := reader{rest: p}
	m.Code, m.BodySize, m.Blocked = abi.Code(r.uint32()), r.uint32(), r.uint32()
	m.Message = r.bytes(uint64(len(r.rest)), maxAnswer)
	if err := r.end(KindAnswer); err != nil {
		return err
	}
	if m.BodySize > MaxAnswerBody {
		return tooLong("body", int(m.BodySize), MaxAnswerBody)
	}
	return nil
}
