package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Probe tries methods on a small image, quickest first, and each at most once in the life of the process. It returns
// the first that works, and for the log why quicker ones do not.
func Probe() (best Method, reasons []error) {
	if m := Method(trusted.Load()); m != Quickest {
		return m, nil
	}
	for at, verdict := range verdicts {
		err := verdict()
		if err == nil {
			return methods[at], reasons
		}
		reasons = append(reasons, err)
	}
	return Copy, reasons
}

// trusted is the method of [UseMethod].
var trusted atomic.Uint32

// UseMethod sets the result of [Probe] to the result in the parent of this process, on the same kernel. It opens the files
// that the method needs.
func UseMethod(m Method) error {
	if !slices.Contains(methods[:], m) {
		return fmt.Errorf("%v is not a method", m)
	}
	if err := prepare(m); err != nil {
		return fmt.Errorf("method %v: %w", m, err)
	}
	trusted.Store(uint32(m))
	return nil
}

// verdicts give for each method why it does not work here; nil if it works. There is one set for the process, since the
// kernel and the confinement of the process are the same for all images.
var verdicts = [len(methods)]func() error{
	sync.OnceValue(func() error { return try(Watch) }),
	sync.OnceValue(func() error { return try(Scan) }),
	sync.OnceValue(func() error { return try(Pagemap) }),
	sync.OnceValue(func() error { return try(Drop) }),
	sync.OnceValue(func() error { return try(Copy) }),
}

const (
	probePage   = 4 << 10
	probeLength = 512 << 10
	probeLimit  = 2 << 20
)

// try makes a memory, writes to it in ways that are hard to find, and checks that Reset restores it.
func try(method Method) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("method %v: %w", method, err)
		}
	}()
	original := make([]byte, probeLimit) // the image, in which every other page is a hole, then zeros
	for at := probePage; at < probeLength; at += 2 * probePage {
		copy(original[at:], bytes.Repeat([]byte{byte(at/probePage) | 1}, probePage))
	}
	image, err := newImage(original[:probeLength], nil, Config{Limit: probeLimit}, method)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, image.Close()) }()
	m, err := image.Memory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Release()) }()
	if err := tryReading(m, original); err != nil {
		return err
	}
	for _, p := range probes() {
		if err := p.run(m, original); err != nil {
			return fmt.Errorf("after %s: %w", p.name, err)
		}
	}
	return nil
}

// tryReading checks that pages that were only read do not count as written.
func tryReading(m *Memory, original []byte) error {
	if !bytes.Equal(m.Reallocate(0), original[:probeLength]) {
		return errors.New("a new memory is not the image")
	}
	if err := m.Reset(nil); err != nil {
		return err
	}
	if m.image.method != Copy && m.PrivateBytes() != 0 {
		return fmt.Errorf("%d bytes count as written, but were only read", m.PrivateBytes())
	}
	return nil
}

// A probe is a way to write to a memory: it grows it, and writes to one page in each stride.
type probe struct {
	name     string
	grow     uint64 // bytes
	from, to int    // bytes
	stride   int    // bytes
}

// probes are in an order in which each finds private pages of the one before. The fragmented ones have more runs of pages
// than the buffers of Scan, with fewer and with more bytes than are restored in place.
func probes() []probe {
	const length, limit, page = probeLength, probeLimit, probePage
	return []probe{
		{name: "one byte", to: 1, stride: page},
		{name: "the last byte", from: length - 1, to: length, stride: page},
		{name: "some pages", to: length, stride: 4 * page},
		{name: "the same again", to: length, stride: 4 * page},
		{name: "more fragments", from: page, to: length, stride: 3 * page},
		{name: "a fragmented tail", grow: limit, from: length, to: limit, stride: 5 * page},
		{name: "all of a tail", grow: 2 * length, from: length, to: 2 * length, stride: page},
		{name: "the end of a tail", grow: limit, from: limit - 1, to: limit, stride: page},
		{name: "both sides of the end", grow: length + pageSize, from: length - pageSize, to: length + pageSize, stride: page},
		{name: "every page", grow: limit, to: limit, stride: page},
		{name: "no write", to: 0, stride: page},
	}
}

func (p probe) run(m *Memory, original []byte) error {
	mem := m.Bytes()
	if p.grow > 0 {
		mem = m.Reallocate(p.grow)
	}
	m.BeginTracking()
	for at := p.from; at < p.to; at += p.stride {
		mem[at] ^= 0xa5
	}
	m.EndTracking()
	if err := m.Reset(func() error { m.Reallocate(0); return nil }); err != nil {
		return err
	}
	all := max(p.grow, probeLength)
	if len(m.Bytes()) != probeLength || !bytes.Equal(m.mapping.slice(all), original[:all]) {
		return errors.New("the memory is not the image, followed by zeros")
	}
	return nil
}
