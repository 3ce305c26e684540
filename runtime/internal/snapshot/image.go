package snapshot

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

const (
	// pageSize is the unit of linear memory, in bytes. It is a multiple of the page size of all kernels.
	pageSize = 64 << 10

	// maxLimit is the address space of 32 bits, in bytes.
	maxLimit = 4 << 30

	// defaultIdle bounds the unused mappings of an image. Each takes two memory areas of the kernel.
	defaultIdle = 16
)

var (
	// ErrClosed is the error of a closed image.
	ErrClosed = errors.New("the image is closed")

	// ErrReleased is the error of a released memory.
	ErrReleased = errors.New("the memory is released")
)

// Config configures an Image.
type Config struct {
	// Limit is the most bytes of a Memory: a multiple of 64 KiB, at most 4 GiB. It costs address space only. Zero means
	// the length of the image.
	Limit uint64

	// Span is how much address space each Memory reserves, in bytes from its beginning: more than Limit. Accesses after the size
	// of the Memory then fault, up to that end. Zero is for code that compares each address with the size. Linux only.
	Span uint64

	// Idle bounds the released mappings that are reused. Zero means 16.
	Idle int

	// Method is how memories are reset. Zero means the quickest that works here. A method that does not work is an
	// error.
	Method Method

	// Reserve has system resources that were acquired before. Nil acquires them now.
	Reserve *Reserve
}

// An Image is the memory from which instances start and to which they are reset. It is safe for concurrent use.
type Image struct {
	// fixed at creation
	backing *backing
	length  uint64 // bytes
	limit   uint64 // bytes
	span    uint64 // likewise
	bound   int    // of idle
	method  Method

	mu sync.Mutex
	// mu guards the fields below
	idle   []*mapping // clean; the newest at the end, which is reused first
	live   int        // memories that are not released
	closed bool
}

// New makes an image of memory, whose length must be a multiple of 64 KiB. It copies memory.
func New(memory []byte, cfg Config) (*Image, error) {
	method, err := choose(cfg.Method)
	if err = errors.Join(err, cfg.check(memory)); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	return newImage(memory, nil, cfg, method)
}

// NewOf is New for the bytes of a memory. Of a blank one it does not read pages that the guest has not touched: reading
// makes the kernel map each.
func NewOf(m *Memory, cfg Config) (*Image, error) {
	method, err := choose(cfg.Method)
	memory := m.Bytes()
	if err = errors.Join(err, cfg.check(memory)); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	if m.image != nil || m.mapping == nil {
		return newImage(memory, nil, cfg, method)
	}
	return newImage(memory, m.mapping.touched(m.size), cfg, method)
}

// An extent is the bytes of a memory from start up to end.
type extent struct{ start, end uint64 }

// newImage makes an image of memory. All bytes outside of the parts are zero; nil parts are all of memory.
func newImage(memory []byte, parts []extent, cfg Config, method Method) (*Image, error) {
	m, err := newBacking(memory, parts, method, cfg.Reserve)
	if err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	return imageOf(m, cfg, method), nil
}

// imageOf makes the image that a backing has.
func imageOf(m *backing, cfg Config, method Method) *Image {
	length, bound := uint64(len(m.bytes)), cfg.Idle
	if bound == 0 {
		bound = defaultIdle
	}
	return &Image{backing: m, length: length, limit: max(cfg.Limit, length), span: cfg.Span, bound: bound, method: method}
}

func (cfg Config) check(memory []byte) error { return cfg.checkLength(uint64(len(memory))) }

// checkLength checks the configuration of an image with that length.
func (cfg Config) checkLength(length uint64) error {
	errs := []error{checkLimit(cfg.Limit), checkSpan(cfg.Span, max(cfg.Limit, length))}
	if length%pageSize != 0 {
		errs = append(errs, fmt.Errorf("length of %d bytes is not a multiple of 64 KiB", length))
	} else if cfg.Limit != 0 && length > cfg.Limit || length > maxLimit {
		errs = append(errs, fmt.Errorf("length of %d bytes is over the limit of %d", length, cfg.Limit))
	}
	if cfg.Idle < 0 {
		errs = append(errs, fmt.Errorf("idle is %d, less than none", cfg.Idle))
	}
	return errors.Join(errs...)
}

func checkLimit(limit uint64) error {
	if limit%pageSize != 0 || limit > maxLimit || limit > math.MaxInt {
		return fmt.Errorf("limit of %d bytes is not a multiple of 64 KiB up to 4 GiB that can be addressed here", limit)
	}
	return nil
}

// checkSpan checks the address space for memories of up to limit bytes. It is more than they have, so that each can fault.
func checkSpan(span, limit uint64) error {
	if span != 0 && (span <= max(limit, pageSize) || span%pageSize != 0 || span > 2*maxLimit) {
		return fmt.Errorf("span of %d bytes is not a multiple of 64 KiB, more than the limit of %d, and up to 8 GiB", span, limit)
	}
	return nil
}

// Len returns the length of the image in bytes.
func (i *Image) Len() uint64 { return i.length }

// Method returns how memories of this image are reset.
func (i *Image) Method() Method { return i.method }

// Memory returns a memory that equals the image. The caller releases it.
func (i *Image) Memory() (*Memory, error) {
	s, err := i.take()
	if err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	if s == nil {
		if s, err = newMapping(i.limit, i.span, i.backing, i.method); err != nil {
			return nil, errors.Join(fmt.Errorf("memory: %w", err), i.leave())
		}
	}
	return &Memory{image: i, limit: i.limit, mapping: s, size: i.length, top: i.length, keptEnd: i.length}, nil
}

// take counts a new memory, and returns an idle mapping for it, or nil when there is none.
func (i *Image) take() (*mapping, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, ErrClosed
	}
	i.live++
	if len(i.idle) == 0 {
		return nil, nil
	}
	last := len(i.idle) - 1
	s := i.idle[last]
	i.idle = slices.Delete(i.idle, last, last+1)
	return s, nil
}

// recycle makes the clean mapping of a released memory idle, or unmaps it when enough are idle.
func (i *Image) recycle(s *mapping) error {
	i.mu.Lock()
	keep := !i.closed && len(i.idle) < i.bound
	if keep {
		i.idle = append(i.idle, s)
		i.live--
	}
	i.mu.Unlock()
	if keep {
		return nil
	}
	return i.discard(s)
}

// discard unmaps the mapping of a released memory.
func (i *Image) discard(s *mapping) error { return errors.Join(s.close(), i.leave()) }

// leave counts a released memory. After Close, the last one closes the backing of the image.
func (i *Image) leave() error {
	i.mu.Lock()
	i.live--
	closed, last := i.closed, i.live == 0
	i.mu.Unlock()
	if !closed {
		return nil
	}
	if last {
		return errors.Join(ErrClosed, i.backing.close())
	}
	return ErrClosed
}

// Close releases the image. All memories should have been released before; otherwise Close returns an error, and the
// release of the last memory frees the rest. It is idempotent.
func (i *Image) Close() error {
	i.mu.Lock()
	first, live, idle := !i.closed, i.live, i.idle
	i.closed, i.idle = true, nil
	i.mu.Unlock()
	var errs []error
	for _, s := range idle {
		errs = append(errs, s.close())
	}
	if live > 0 {
		errs = append(errs, fmt.Errorf("close image: %d memories are not released", live))
	} else if first {
		errs = append(errs, i.backing.close())
	}
	return errors.Join(errs...)
}
