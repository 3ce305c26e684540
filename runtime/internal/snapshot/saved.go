package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Bounds of a saved image.
const (
	// maxSavedLength bounds the memory, in bytes.
	maxSavedLength = 256 << 20
	// maxSavedBytes bounds what of the memory is not zero, in bytes.
	maxSavedBytes = 32 << 20
	// maxSavedParts bounds the runs of pages that are not zero.
	maxSavedParts = 4096
	// maxAbout bounds what the caller stores beside the memory, in bytes.
	maxAbout = 1 << 20
)

var (
	savedMagic = []byte("WRIMAGE1")
	savedSums  = crc32.MakeTable(crc32.Castagnoli)
)

// A savedHead describes the memory in the file of a saved image. The file begins with the memory, with holes where that is zero,
// and ends with the head:
//
//	magic, 8 bytes
//	number of parts, 4 bytes; start and end of each in the memory, 8 bytes each: they are in order, and the rest is zero
//	length of about, 4 bytes; about
//	checksum of the parts and of the head before it, CRC-32C, 4 bytes
//	length of the head before this number, 4 bytes
//
// All numbers are little endian.
type savedHead struct {
	length uint64 // of the memory, in bytes
	parts  []extent
	about  []byte
	sum    uint32 // over the parts, then text
	text   []byte // the head before the checksum
}

// appendHead appends the head before its checksum.
func appendHead(b []byte, parts []extent, about []byte) []byte {
	b = append(b, savedMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(parts)))
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, p.start), p.end)
	}
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(about))), about...)
}

// appendTail appends what follows the head: its checksum, which continues that of the parts, and its length.
func appendTail(head []byte, sum uint32) []byte {
	head = binary.LittleEndian.AppendUint32(head, crc32.Update(sum, savedSums, head))
	return binary.LittleEndian.AppendUint32(head, uint32(len(head)))
}

const (
	minHead = 8 + 4 + 4 + 4
	maxHead = minHead + 16*maxSavedParts + maxAbout
)

var errNoSavedImage = errors.New("the file is no saved image")

// readHead reads the head of a file of that size. The file may have any bytes: the parts lie within the memory, and nothing is
// known of the checksum.
func readHead(file io.ReaderAt, size int64) (*savedHead, error) {
	var tail [4]byte
	if size < minHead+4 || size > maxSavedLength+maxHead+4 {
		return nil, fmt.Errorf("%w: it has %d bytes", errNoSavedImage, size)
	}
	if _, err := file.ReadAt(tail[:], size-4); err != nil {
		return nil, fmt.Errorf("saved image: %w", err)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	length := size - 4 - n
	if n < minHead || n > maxHead || length <= 0 || length > maxSavedLength || length%pageSize != 0 {
		return nil, fmt.Errorf("%w: a head of %d bytes in %d", errNoSavedImage, n, size)
	}
	text := make([]byte, n)
	if _, err := file.ReadAt(text, length); err != nil {
		return nil, fmt.Errorf("saved image: %w", err)
	}
	return parseHead(text, uint64(length))
}

func parseHead(text []byte, length uint64) (*savedHead, error) {
	h := &savedHead{length: length, text: text[:len(text)-4], sum: binary.LittleEndian.Uint32(text[len(text)-4:])}
	rest, ok := bytes.CutPrefix(h.text, savedMagic)
	if !ok {
		return nil, errNoSavedImage
	}
	n := uint64(binary.LittleEndian.Uint32(rest))
	rest = rest[4:]
	if n > maxSavedParts || 16*n+4 > uint64(len(rest)) {
		return nil, fmt.Errorf("%w: it has %d parts", errNoSavedImage, n)
	}
	at := uint64(0)
	for range n {
		p := extent{binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:])}
		if p.start < at || p.end <= p.start || p.end > length {
			return nil, fmt.Errorf("%w: a part from %d to %d of %d bytes, after %d", errNoSavedImage, p.start, p.end, length, at)
		}
		h.parts, at, rest = append(h.parts, p), p.end, rest[16:]
	}
	if about := uint64(binary.LittleEndian.Uint32(rest)); about != uint64(len(rest)-4) || about > maxAbout {
		return nil, fmt.Errorf("%w: %d bytes beside the memory, and not %d", errNoSavedImage, len(rest)-4, about)
	}
	h.about = rest[4:]
	return h, nil
}

// check compares the checksum with the parts of memory and the head.
func (h *savedHead) check(memory []byte) error {
	sum := uint32(0)
	for _, p := range h.parts {
		sum = crc32.Update(sum, savedSums, memory[p.start:p.end])
	}
	if crc32.Update(sum, savedSums, h.text) != h.sum {
		return errors.New("the saved image is damaged: its checksum differs")
	}
	return nil
}
