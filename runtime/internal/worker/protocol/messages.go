package protocol

// A Credit returns bytes of the window to the worker: the parent has read them.
type Credit struct{ Bytes uint32 }

// Kind implements [Message].
func (*Credit) Kind() Kind { return KindCredit }

// Check implements [Message].
func (*Credit) Check() error { return nil }

// Append implements [Message].
func (m *Credit) Append(b []byte) []byte { return order.AppendUint32(b, m.Bytes) }

// Decode fills m from a payload.
func (m *Credit) Decode(p []byte) error {
	r := reader{rest: p}
	m.Bytes = r.uint32()
	return r.end(KindCredit)
}

// A Chunk announces bytes of a content that are in the window.
type Chunk struct{ Offset, Length uint32 }

// Kind implements [Message].
func (*Chunk) Kind() Kind { return KindChunk }

// Check implements [Message].
func (*Chunk) Check() error { return nil }

// Append implements [Message].
func (m *Chunk) Append(b []byte) []byte {
	return order.AppendUint32(order.AppendUint32(b, m.Offset), m.Length)
}

// Decode fills m from a payload. [Receiver.Chunk] checks that the window has such bytes.
func (m *Chunk) Decode(p []byte) error {
	r := reader{rest: p}
	m.Offset, m.Length = r.uint32(), r.uint32()
	return r.end(KindChunk)
}

// A NewLink opens a link. With it come two files: the other end of a [Pair], and [Window.File].
type NewLink struct{ ID uint32 }

// Kind implements [Message].
func (*NewLink) Kind() Kind { return KindNewLink }

// Check implements [Message].
func (*NewLink) Check() error { return nil }

// Append implements [Message].
func (m *NewLink) Append(b []byte) []byte { return order.AppendUint32(b, m.ID) }

// Decode fills m from a payload.
func (m *NewLink) Decode(p []byte) error {
	r := reader{rest: p}
	m.ID = r.uint32()
	return r.end(KindNewLink)
}

// A Cancel says that the caller no longer waits for the result of a call. The call may have ended.
type Cancel struct {
	Link uint32
	Seq  uint64
}

// Kind implements [Message].
func (*Cancel) Kind() Kind { return KindCancel }

// Check implements [Message].
func (*Cancel) Check() error { return nil }

// Append implements [Message].
func (m *Cancel) Append(b []byte) []byte {
	return order.AppendUint64(order.AppendUint32(b, m.Link), m.Seq)
}

// Decode fills m from a payload.
func (m *Cancel) Decode(p []byte) error {
	r := reader{rest: p}
	m.Link, m.Seq = r.uint32(), r.uint64()
	return r.end(KindCancel)
}

// A Pause has the guest of a call stand still, or go on.
type Pause struct {
	Link uint32
	Seq  uint64
	On   bool
}

// Kind implements [Message].
func (*Pause) Kind() Kind { return KindPause }

// Check implements [Message].
func (*Pause) Check() error { return nil }

// Append implements [Message].
func (m *Pause) Append(b []byte) []byte {
	on := byte(0)
	if m.On {
		on = 1
	}
	return append(order.AppendUint64(order.AppendUint32(b, m.Link), m.Seq), on)
}

// Decode fills m from a payload.
func (m *Pause) Decode(p []byte) error {
	r := reader{rest: p}
	m.Link, m.Seq = r.uint32(), r.uint64()
	on := r.uint8()
	m.On, r.bad = on == 1, r.bad || on > 1
	return r.end(KindPause)
}
