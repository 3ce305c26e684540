package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

const (
	// objectMax is how many bytes an object may have, and a delta: both, the base and what grows of them are in memory.
	objectMax = 8 << 20
	// chainMax is how many deltas may lie on each other: git makes no more.
	chainMax = 4095
	// deltasMax is how many bytes the deltas of a chain may have.
	deltasMax = 2 * objectMax
)

var (
	errTooLarge = fmt.Errorf("the object has more than %d bytes", objectMax)
	errCorrupt  = errors.New("the pack is damaged")
)

// A pack holds objects, many of them as the difference from another one.
type pack struct {
	index *index
	file  *pagedFile
}

func openPack(dir fs.FS, name string) (*pack, error) {
	index, err := openIndex(dir, strings.TrimSuffix(name, ".pack")+".idx")
	if err != nil {
		return nil, err
	}
	file, err := openPaged(dir, name)
	if err != nil {
		return nil, err
	}
	return &pack{index, file}, nil
}

// An entry is how an object stands in a pack.
type entry struct {
	kind plumbing.ObjectType
	size int64 // of the object or, for a delta, of the delta
	base int64 // offset of what a delta is the difference from
	data int64 // offset of the compressed bytes
}

// read gives the object at an offset.
func (p *pack) read(offset int64) (plumbing.ObjectType, []byte, error) {
	var deltas [][]byte
	room := int64(deltasMax)
	for {
		e, err := p.entry(offset)
		if err != nil {
			return 0, nil, err
		}
		data, err := p.inflate(e)
		if err != nil {
			return 0, nil, err
		}
		if !e.kind.IsDelta() {
			data, err = apply(data, deltas)
			return e.kind, data, err
		}
		if room -= e.size; len(deltas) == chainMax || room < 0 {
			return 0, nil, fmt.Errorf("%w: its deltas have no end", errCorrupt)
		}
		deltas = append(deltas, data)
		offset = e.base
	}
}

// apply applies deltas to an object, the last one first.
func apply(data []byte, deltas [][]byte) ([]byte, error) {
	for i := len(deltas) - 1; i >= 0; i-- {
		size, err := deltaSize(deltas[i])
		if err != nil {
			return nil, err
		}
		if size > objectMax {
			return nil, errTooLarge
		}
		if data, err = packfile.PatchDelta(data, deltas[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", errCorrupt, err)
		}
	}
	return data, nil
}

// size gives how many bytes the object at an offset has.
func (p *pack) size(offset int64) (int64, error) {
	e, err := p.entry(offset)
	if err != nil || !e.kind.IsDelta() {
		return e.size, err
	}
	delta, err := inflate(p.section(e.data))
	if err != nil {
		return 0, err
	}
	begin := make([]byte, min(e.size, 2*varintMax))
	if _, err := io.ReadFull(delta, begin); err != nil {
		return 0, damaged(err)
	}
	return deltaSize(begin)
}

// entry reads what stands before the bytes of an object.
func (p *pack) entry(offset int64) (e entry, err error) {
	var room [2*varintMax + nameSize]byte
	n, err := p.file.ReadAt(room[:], offset)
	if err != nil && err != io.EOF {
		return e, err
	}
	head := room[:n]
	if n == 0 {
		return e, errCorrupt
	}
	size, used := varint(head)
	e.kind = plumbing.ObjectType(head[0] >> 4 & 7)
	e.size = size>>7<<4 | size&0xf
	if head = head[used:]; used == 0 {
		return e, errCorrupt
	}
	switch e.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		back, n := distance(head)
		if e.base = offset - back; n == 0 || back <= 0 || e.base < 0 {
			return e, errCorrupt
		}
		used += n
	case plumbing.REFDeltaObject:
		if len(head) < nameSize {
			return e, errCorrupt
		}
		var ok bool
		if e.base, ok, err = p.index.find(plumbing.Hash(head[:nameSize])); err != nil || !ok {
			return e, errors.Join(errCorrupt, err)
		}
		used += nameSize
	default:
		return e, errCorrupt
	}
	e.data = offset + int64(used)
	return e, nil
}

// inflate gives the bytes of an entry.
func (p *pack) inflate(e entry) ([]byte, error) {
	if e.size > objectMax {
		return nil, errTooLarge
	}
	r, err := inflate(p.section(e.data))
	if err != nil {
		return nil, err
	}
	data := make([]byte, e.size)
	return data, fill(data, r)
}

func (p *pack) section(offset int64) io.Reader {
	return io.NewSectionReader(p.file, offset, p.file.size-offset)
}

// varintMax is how many bytes a number of variable length may have.
const varintMax = 9

// varint gives the number that b begins with, and its length in b; 0 when it is none.
func varint(b []byte) (value int64, length int) {
	for i, c := range b[:min(len(b), varintMax)] {
		value |= int64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}

// distance gives what b begins with, how far the base of a delta is before it, and the length of that in b; 0 when it
// is none.
func distance(b []byte) (value int64, length int) {
	for i, c := range b[:min(len(b), varintMax-1)] {
		value = value<<7 | int64(c&0x7f)
		if c < 0x80 {
			return value, i + 1
		}
		value++
	}
	return 0, 0
}

// deltaSize gives how many bytes the object has that a delta leads to.
func deltaSize(delta []byte) (int64, error) {
	_, n := varint(delta)
	size, m := varint(delta[n:])
	if n == 0 || m == 0 {
		return 0, errCorrupt
	}
	return size, nil
}
