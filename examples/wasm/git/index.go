package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"
)

// Sizes and places in an index of version 2: a header, a table of how many names begin with at most each byte, the
// names in order, a checksum for each, an offset for each, the offsets that need 64 bits, and two checksums.
const (
	nameSize     = 20
	fanoutAt     = 8
	namesAt      = fanoutAt + 256*4
	entrySize    = nameSize + 4 + 4
	trailerSize  = 2 * nameSize
	largeOffset  = 1 << 31
	indexVersion = 2
)

// An index tells where in a pack an object is. It is searched in the file: only the first table is read as a whole.
type index struct {
	file   *pagedFile
	fanout [256]uint32
}

func openIndex(dir fs.FS, name string) (*index, error) {
	file, err := openPaged(dir, name)
	if err != nil {
		return nil, err
	}
	var head [namesAt]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !bytes.Equal(head[:4], []byte("\xfftOc")) || binary.BigEndian.Uint32(head[4:]) != indexVersion {
		return nil, fmt.Errorf("%s is no index of version %d", name, indexVersion)
	}
	x := &index{file: file}
	last := uint32(0)
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[fanoutAt+4*i:])
		if x.fanout[i] < last {
			return nil, fmt.Errorf("%s: its table of names is not in order", name)
		}
		last = x.fanout[i]
	}
	if namesAt+x.count()*entrySize+trailerSize > file.size {
		return nil, fmt.Errorf("%s is too short for %d objects", name, x.count())
	}
	return x, nil
}

// count gives how many objects there are.
func (x *index) count() int64 { return int64(x.fanout[255]) }

// bounds gives between which positions the names are that begin with a byte.
func (x *index) bounds(first byte) (low, high int64) {
	if first > 0 {
		low = int64(x.fanout[first-1])
	}
	return low, int64(x.fanout[first])
}

// name gives the name at a position below count.
func (x *index) name(position int64) (name plumbing.Hash, err error) {
	_, err = x.file.ReadAt(name[:], namesAt+position*nameSize)
	return name, err
}

// search gives the position of the first name that is not less than one.
func (x *index) search(least plumbing.Hash) (int64, error) {
	low, high := x.bounds(least[0])
	for low < high {
		middle := (low + high) / 2
		name, err := x.name(middle)
		if err != nil {
			return 0, err
		}
		if bytes.Compare(name[:], least[:]) < 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// find gives the offset of an object in the pack, and whether it is there.
func (x *index) find(hash plumbing.Hash) (offset int64, ok bool, err error) {
	position, err := x.search(hash)
	if err != nil || position == x.count() {
		return 0, false, err
	}
	name, err := x.name(position)
	if err != nil || name != hash {
		return 0, false, err
	}
	offset, err = x.offset(position)
	return offset, err == nil, err
}

func (x *index) offset(position int64) (int64, error) {
	var b [8]byte
	at := namesAt + x.count()*(nameSize+4) + position*4
	if _, err := x.file.ReadAt(b[:4], at); err != nil {
		return 0, err
	}
	offset := int64(binary.BigEndian.Uint32(b[:]))
	if offset < largeOffset {
		return offset, nil
	}
	at = namesAt + x.count()*entrySize + (offset-largeOffset)*8
	if _, err := x.file.ReadAt(b[:], at); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(b[:])), nil
}

// withPrefix gives at most two of the names that begin with digits, as in "1a2b3".
func (x *index) withPrefix(digits string) (names []plumbing.Hash, err error) {
	position, err := x.search(plumbing.NewHash((digits + zeros)[:len(zeros)]))
	for ; err == nil && position < x.count() && len(names) < 2; position++ {
		var name plumbing.Hash
		if name, err = x.name(position); err != nil || name.String()[:len(digits)] != digits {
			break
		}
		names = append(names, name)
	}
	return names, err
}

const zeros = "0000000000000000000000000000000000000000"
