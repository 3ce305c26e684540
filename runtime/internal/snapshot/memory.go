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
	size    uint64   // bytes, what the engine was last given
	top     uint64   // the largest size since the last Reset

	keptImage, keptTail uint64 // bytes of private pages that Reset has left in place, within the image and behind it
	keptEnd             uint64 // behind it, all is untouched

	track  trackState
	faults int64 // when it began to be watched

	started   bool // the engine has asked once
	refused   bool
	shrinking bool // the engine asks because Reset wants it to
	unusable  bool // a Reset has begun and has not ended well
}

// Blank gives a memory without an image: for the instance that initialises itself. It is empty until the engine asks,
// reads as zero, and grows to limit bytes, a multiple of 64 KiB up to 4 GiB. Release unmaps it.
func Blank(limit uint64) (*Memory, error) {
	if err := checkLimit(limit); err != nil {
		return nil, fmt.Errorf("blank memory: %w", err)
	}
	s, err := newMapping(limit, nil, Quickest)
	if err != nil {
		return nil, fmt.Errorf("blank memory: %w", err)
	}
	return &Memory{limit: limit, mapping: s}, nil
}

// Reallocate gives the engine size bytes of memory, or nil when that is over the limit. The first call gives the
// image's length, whatever the module's minimum is; so does the call that Reset's shrink leads to. What is given
// stays in place for the life of the Memory, but for systems where the only method is Copy.
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
	m.started = true
	m.size, m.top = size, max(m.top, size)
	return m.mapping.slice(size)
}

// Free does nothing: the engine calls it when an instance is closed, perhaps while a view of its memory is still
// looked at, and what is mapped cannot fault. [Memory.Release] is what ends a memory.
func (m *Memory) Free() {}

// ClearRefused forgets that the guest was refused memory.
func (m *Memory) ClearRefused() { m.refused = false }

// GrowthRefused reports whether the guest has asked for more than the limit since the last ClearRefused or Reset.
func (m *Memory) GrowthRefused() bool { return m.refused }

// Bytes is a view of the memory as it is, of which [New] makes an image. It must not outlive the next Reallocate,
// Reset or Release.
func (m *Memory) Bytes() []byte {
	if m.mapping == nil {
		return nil
	}
	return m.mapping.slice(m.size)
}

// Release ends the memory: its mapping is cleaned and kept for another, or unmapped. The engine's instance must have
// been closed, and no view of the memory may be used again. Whatever it returns, the Memory is released; a second time
// is [ErrReleased], and after the image was closed it is [ErrClosed].
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
	copyBack(s.slice(used), m.image.backing.bytes)
	return m.image.recycle(s)
}
