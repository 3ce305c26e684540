package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Probe tries methods on a small image, from the quickest and each at most once in the life of the process. It gives
// the first that works here, with the reasons why quicker ones do not, for the log.
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

// trusted is the method that [UseMethod] was told of.
var trusted atomic.Uint32

// UseMethod sets the result of [Probe] to a method that another process has found by probing the same
// kernel, and started this one. It opens what the method takes.
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

// verdicts say of each of the methods why it does not work here. They are the process's, since what its kernel and the
// sandbox around it allow is the same for all of it.
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

// try makes a memory, spoils it in ways that are awkward to find, and checks that Reset restores it.
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
	image, err := newImage(original[:probeLength], Config{Limit: probeLimit}, method)
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

// tryReading makes sure that pages which were only read are not taken for written ones.
func tryReading(m *Memory, original []byte) error {
	if !bytes.Equal(m.Reallocate(0), original[:probeLength]) {
		return errors.New("a new memory is not the image")
	}
	if err := m.Reset(nil); err != nil {
		return err
	}
	if m.image.method != Copy && m.PrivateBytes() != 0 {
		return fmt.Errorf("of pages that were only read, %d bytes seem written", m.PrivateBytes())
	}
	return nil
}

// A probe is a way to spoil a memory: to grow it to some length and to write to one page in every few.
type probe struct {
	name     string
	grow     uint64 // bytes
	from, to int    // bytes
	stride   int    // bytes
}

// probes are ordered so that each meets pages which the one before has left private. The fragmented ones have more
// runs of pages than the buffers of Scan, and fewer and more bytes than are restored in place.
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
