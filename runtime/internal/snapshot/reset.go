package snapshot

import (
	"errors"
	"fmt"
)

// Bounds of the private pages that a Reset restores in place, in bytes. Beyond them it drops the pages: it returns them
// to the kernel by one call, and the next write to each costs a page fault. Restoring in place is quicker, for any
// number of pages, if the guest always writes the same ones.
const (
	// keepImage bounds what one heavy call costs all later ones: without a record of writes, each Reset restores every
	// page that was ever written.
	keepImage = 256 << 10

	// keepTail is for growth. It only bounds the memory of an idle instance: later calls that do not grow skip the tail. It
	// suffices for a result of 1 MiB and the data of an allocator.
	keepTail = 1280 << 10
)

// Reset resets the bytes and the length of the memory to those of the image. When the memory has grown it calls shrink, which
// must make the engine call Reallocate and take the new size: with wazero by a Grow of one page, which must be within the
// maximum of the module. After an error the memory is unusable: the caller closes the instance and releases the memory. It
// takes microseconds, except by Copy.
func (m *Memory) Reset(shrink func() error) error {
	switch {
	case m.mapping == nil:
		return fmt.Errorf("reset: %w", ErrReleased)
	case m.image == nil:
		return errors.New("reset: a blank memory has no image")
	case m.unusable:
		return errors.New("reset: the memory is unusable after a failed reset")
	}
	m.StopTracking()
	m.unusable = true // also if shrink panics
	if err := m.restore(); err != nil {
		return fmt.Errorf("reset: memory is unusable: %w", err)
	}
	if err := m.shrink(shrink); err != nil {
		return fmt.Errorf("reset: memory is unusable: %w", err)
	}
	m.refused, m.unusable = false, false
	return nil
}

// restore restores all bytes that the guest could write to. It checks the tail after the image only when the memory has
// grown, then including private pages of earlier growth, so that keepTail bounds all of them.
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
	if err := m.mapping.expose(used); err != nil {
		return err
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

// restorePages restores the first used bytes, and returns how many of them stay in private pages.
func (m *Memory) restorePages(used uint64) (inImage, inTail uint64, err error) {
	if m.image.method != Copy {
		return m.mapping.restore(m.image.method, m.image.backing.bytes, used)
	}
	copyBack(m.mapping.slice(used), m.image.backing.bytes)
	return m.image.length, used - m.image.length, nil
}

// copyBack copies image to mem, and clears the rest.
func copyBack(mem, image []byte) { clear(mem[copy(mem, image):]) }

func (m *Memory) shrink(engine func() error) error {
	if m.size == m.image.length {
		return nil
	}
	if engine == nil {
		return errors.New("the memory has grown, and there is no function to shrink it")
	}
	m.shrinking = true
	err := engine()
	m.shrinking = false
	if err != nil {
		return fmt.Errorf("shrink: %w", err)
	}
	if m.size != m.image.length {
		return errors.New("shrink: the engine did not call Reallocate")
	}
	return nil
}

// PrivateBytes returns the bytes of private pages that the memory has after a Reset. It is at most 1.5 MiB, except by
// Copy.
func (m *Memory) PrivateBytes() uint64 { return m.keptImage + m.keptTail }

// Trim releases the private pages of a memory that was reset. It is for idle instances: the next call
// pays a page fault for each page that it writes. With Copy it does nothing.
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
