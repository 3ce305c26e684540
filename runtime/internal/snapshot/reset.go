package snapshot

import (
	"errors"
	"fmt"
)

// How many bytes of private pages a Reset restores in place. Over it, they are dropped instead: given back to the
// kernel, in one call whose cost is in the page faults of the next write there. In place is quicker, at any
// number of pages, for a guest that always writes the same ones.
const (
	// keepImage bounds what one heavy call costs all later ones: without a record of writes, each Reset restores every
	// page that was ever written.
	keepImage = 256 << 10

	// keepTail, for what was grown, only bounds the memory of an instance at rest: later calls that do not grow do not
	// look there. It has room for a result of 1 MiB and its allocator's bookkeeping.
	keepTail = 1280 << 10
)

// Reset puts the memory back to the image, byte for byte and in length. When the memory has grown it calls shrink,
// which must make the engine call Reallocate and forget its own longer view: with wazero that is a Grow by one page,
// which therefore has to be within the module's maximum, and a look at the size after it. An error leaves the memory
// unusable: the instance must be closed, the memory released. On methods other than Copy it takes microseconds.
func (m *Memory) Reset(shrink func() error) error {
	switch {
	case m.mapping == nil:
		return fmt.Errorf("reset: %w", ErrReleased)
	case m.image == nil:
		return errors.New("reset: a blank memory has no image")
	case m.unusable:
		return errors.New("reset: the memory is unusable since a reset that did not end well")
	}
	m.StopTracking()
	m.unusable = true // should shrink panic, too
	if err := m.restore(); err != nil {
		return fmt.Errorf("reset: memory is unusable: %w", err)
	}
	if err := m.shrink(shrink); err != nil {
		return fmt.Errorf("reset: memory is unusable: %w", err)
	}
	m.refused, m.unusable = false, false
	return nil
}

// restore restores all bytes that the guest could write to. Behind the image that is looked at only when it
// has grown, and then includes what earlier growth has left in place, so that keepTail bounds all of it.
func (m *Memory) restore() error {
	length := m.image.length
	if m.track == tracked && m.top == length && m.mapping.restoreTracked(m.image.backing.bytes) {
		m.track = unwritten
		return nil
	}
	m.track = untracked
	used := length
	if m.top > length {
		used = max(m.top, m.keptEnd)
	}
	inImage, inTail, err := m.restorePages(used)
	if err != nil {
		return err
	}
	m.keptImage = inImage
	if used > length {
		m.keptTail, m.keptEnd = inTail, length
		if inTail > 0 {
			m.keptEnd = used
		}
	}
	m.top = length
	if m.image.method == Watch {
		m.track = unwritten
	}
	return nil
}

// restorePages restores the first used bytes, and says how many it left in private pages.
func (m *Memory) restorePages(used uint64) (inImage, inTail uint64, err error) {
	if m.image.method != Copy {
		return m.mapping.restore(m.image.method, m.image.backing.bytes, used)
	}
	copyBack(m.mapping.slice(used), m.image.backing.bytes)
	return m.image.length, used - m.image.length, nil
}

// copyBack makes mem the image, followed by zeros.
func copyBack(mem, image []byte) { clear(mem[copy(mem, image):]) }

func (m *Memory) shrink(engine func() error) error {
	if m.size == m.image.length {
		return nil
	}
	if engine == nil {
		return errors.New("it has grown, and nothing was given that makes the engine shrink it")
	}
	m.shrinking = true
	err := engine()
	m.shrinking = false
	if err != nil {
		return fmt.Errorf("shrink: %w", err)
	}
	if m.size != m.image.length {
		return errors.New("shrink: the engine did not ask for memory")
	}
	return nil
}

// PrivateBytes is how many bytes of private pages the memory holds after a Reset, ready for the next call. It is at most
// 1.5 MiB, but for Copy.
func (m *Memory) PrivateBytes() uint64 { return m.keptImage + m.keptTail }

// Trim gives what is kept back to the kernel. It is for a memory that was Reset and may rest for a while: the next
// call pays a page fault for each page that it writes. With Copy it does nothing.
func (m *Memory) Trim() error {
	switch {
	case m.mapping == nil:
		return fmt.Errorf("trim: %w", ErrReleased)
	case m.image == nil, m.size != m.image.length, m.unusable:
		return errors.New("trim: the memory was not reset")
	case m.image.method == Copy:
		return nil
	}
	if err := m.mapping.drop(); err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	m.keptImage, m.keptTail, m.keptEnd, m.track = 0, 0, m.image.length, untracked
	return nil
}
