package snapshot

import (
	"errors"
	"fmt"
)

// A Memory is the linear memory of one instance. It belongs to one goroutine at a time and, as wazero's
// experimental.LinearMemory, to the engine's instance until that is closed.
type Memory struct {
	image *Image // nil for a blank memory
	limit uint64 // bytes

	mapping *mapping // nil once released
	size    uint64   // bytes, that the engine was given last
	top     uint64   // the largest size since the last Reset

	keptImage, keptTail uint64 // bytes of private pages that Reset has kept, within the image and after it
	keptEnd             uint64 // no byte after it was written

	track  trackState
	faults int64 // of the thread when tracking began

	started   bool // the engine has called Reallocate
	refused   bool
	shrinking bool // the engine calls Reallocate within Reset
	unusable  bool // a Reset has begun, and has not succeeded
}

// Blank returns a memory without an image, for an instance that initialises itself. Its bytes are zero. It grows to at
// most limit bytes, a multiple of 64 KiB up to 4 GiB. span is [Config.Span]. The caller releases it.
func Blank(limit, span uint64) (*Memory, error) {
	if err := errors.Join(checkLimit(limit), checkSpan(span, limit)); err != nil {
		return nil, fmt.Errorf("blank memory: %w", err)
	}
	s, err := newMapping(limit, span, nil, Quickest)
	if err != nil {
		return nil, fmt.Errorf("blank memory: %w", err)
	}
	return &Memory{limit: limit, mapping: s}, nil
}

// Reallocate returns size bytes of memory for the engine, or nil when that exceeds the limit, or the system refuses it. The first call,
// and the call within Reset, return the length of the image, whatever size is. The bytes stay at their address for the life of
// the Memory, except on systems where the only method is Copy.
func (m *Memory) Reallocate(size uint64) []byte {
	switch {
	case m.mapping == nil, m.unusable && !m.shrinking:
		return nil
	case m.image != nil && (m.shrinking || !m.started):
		size = m.image.length
	case size > m.limit:
		m.refused = true
		return nil
	}
	m.top = max(m.top, size) // also of a part that was exposed before an error: Reset clears it
	if m.mapping.expose(size) != nil {
		m.refused = true
		return nil
	}
	m.started = true
	m.size = size
	return m.mapping.slice(size)
}

// Reserved returns how much address space the memory has reserved from its beginning, of which all after the size that Reallocate
// has returned last faults; zero for none.
func (m *Memory) Reserved() uint64 {
	if m.mapping == nil {
		return 0
	}
	return m.mapping.reserved()
}

// Free does nothing. The engine calls it when an instance is closed, while other code may still read a view of the memory.
// [Memory.Release] unmaps it.
func (m *Memory) Free() {}

// ClearRefused resets GrowthRefused.
func (m *Memory) ClearRefused() { m.refused = false }

// GrowthRefused reports whether the guest has requested more than the limit, or than the system gives, since the last ClearRefused or Reset.
func (m *Memory) GrowthRefused() bool { return m.refused }

// Bytes returns a view of the memory, as for [New]. It is valid until the next Reallocate, Reset or Release.
func (m *Memory) Bytes() []byte {
	if m.mapping == nil {
		return nil
	}
	return m.mapping.slice(m.size)
}

// Release releases the memory: its mapping is cleaned for reuse, or unmapped. The instance of the engine must have been
// closed, and no view of the memory may be used again. The memory is released also after an error. A second Release is
// [ErrReleased]; the error after the image was closed is [ErrClosed].
func (m *Memory) Release() error {
	s := m.mapping
	if s == nil {
		return fmt.Errorf("release: %w", ErrReleased)
	}
	m.mapping = nil
	if err := m.recycle(s); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

func (m *Memory) recycle(s *mapping) error {
	if m.image == nil {
		return s.close()
	}
	if m.image.method != Copy {
		if err := s.drop(); err != nil {
			return errors.Join(err, m.image.discard(s))
		}
		return m.image.recycle(s)
	}
	used := max(m.top, m.keptEnd)
	if used-m.image.length > keepTail {
		return m.image.discard(s)
	}
	if err := s.expose(used); err != nil {
		return errors.Join(err, m.image.discard(s))
	}
	copyBack(s.slice(used), m.image.backing.bytes)
	return m.image.recycle(s)
}
