package protocol

import "log/slog"

const (
	maxLog     = 4 << 10 // bytes of a log message
	maxAttrs   = 16
	maxLogText = 2 << 10 // bytes of its text
	maxAttrKey = 64      // bytes
	logSize    = 1 + 1 + 2
)

// An Attr is one attribute of a [Log].
type Attr struct{ Key, Value string }

// A Log is one record for the parent's log, of at most 4 KiB in all.
type Log struct {
	Level   slog.Level // -128 to 127
	Message string     // cut after 2 KiB
	Attrs   []Attr     // at most 16; keys are cut after 64 bytes, values and the rest when 4 KiB are reached
}

// Kind implements [Message].
func (*Log) Kind() Kind { return KindLog }

// Check implements [Message].
func (*Log) Check() error { return nil }

// Append implements [Message].
func (m *Log) Append(b []byte) []byte {
	start := len(b)
	text := truncate(m.Message, maxLogText)
	b = append(b, byte(int8(max(-128, min(m.Level, 127)))), 0)
	b = order.AppendUint16(b, uint16(len(text)))
	b = append(b, text...)
	for _, a := range m.Attrs[:min(len(m.Attrs), maxAttrs)] {
		key := truncate(a.Key, maxAttrKey)
		room := maxLog - (len(b) - start) - 4 - len(key)
		if room < 0 {
			break
		}
		value := truncate(a.Value, room)
		b = order.AppendUint16(b, uint16(len(key)))
		b = order.AppendUint16(b, uint16(len(value)))
		b = append(append(b, key...), value...)
		b[start+1]++
	}
	return b
}

// Decode fills m from a payload. The texts are copied, and UTF-8; Attrs is used again.
func (m *Log) Decode(p []byte) error {
	r := reader{rest: p}
	m.Level = slog.Level(int8(r.uint8()))
	n := int(r.uint8())
	m.Message = r.text(uint64(r.uint16()), maxLogText)
	m.Attrs = m.Attrs[:0]
	if n > maxAttrs || len(p) > maxLog {
		return malformed(KindLog, "too many attributes, or too long")
	}
	for range n {
		key, value := uint64(r.uint16()), uint64(r.uint16())
		m.Attrs = append(m.Attrs, Attr{r.text(key, maxAttrKey), r.text(value, maxLog)})
	}
	return r.end(KindLog)
}
