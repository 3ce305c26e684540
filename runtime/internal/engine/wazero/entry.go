package wazero

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// NativeCode returns the native code in an entry of the compilation cache, which has that size in bytes. The entry may be any
// bytes: the result lies within it, and nothing is known of the code.
//
// An entry begins with entryMagic, the length of wazero's version as a byte, the version, the number of functions in 4 bytes, the
// offset of each function in 8 bytes, and the length of the native code in 8 bytes, all little endian. The native code follows;
// it does not depend on its address.
func NativeCode(entry io.ReaderAt, size int64) (*io.SectionReader, error) {
	head := io.NewSectionReader(entry, 0, size)
	fixed := make([]byte, len(entryMagic)+1)
	if _, err := io.ReadFull(head, fixed); err != nil || !bytes.HasPrefix(fixed, entryMagic) {
		return nil, errors.New("compilation cache: the file is no entry of wazero")
	}
	counted := int64(len(fixed)) + int64(fixed[len(entryMagic)])
	functions, err := readNumber(head, counted, 4)
	if err != nil {
		return nil, err
	}
	sized := counted + 4 + 8*functions // of at most 4 Gi functions
	length, err := readNumber(head, sized, 8)
	if err != nil {
		return nil, err
	}
	begin := sized + 8
	if length < 0 || length > size-begin {
		return nil, fmt.Errorf("compilation cache: the entry has %d bytes, and native code from %d on would have %d", size, begin, length)
	}
	return io.NewSectionReader(entry, begin, length), nil
}

var entryMagic = []byte("WAZEVO")

// readNumber reads a number of some bytes at an offset.
func readNumber(r io.ReaderAt, at int64, bytes int) (int64, error) {
	var b [8]byte
	if n, err := r.ReadAt(b[:bytes], at); n < bytes {
		return 0, fmt.Errorf("compilation cache: the entry ends early: %w", err)
	}
	return int64(binary.LittleEndian.Uint64(b[:])), nil
}

// headBuffer is how many bytes before and after the native code are read at once: wazero reads 8.
const headBuffer = 64 << 10

// An entryReader reads an entry for wazero, which wants the native code as one piece, into memory that it has just mapped for it.
// The reader maps a file with that code there instead, if it can.
type entryReader struct {
	file         *os.File
	before, rest *bufio.Reader // what comes before and after the native code
	left         int64         // bytes that before has
	code         *io.SectionReader
	codeRead     bool
	cache        *codeCache
}

func newEntryReader(file *os.File, c *codeCache) (*entryReader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	code, err := NativeCode(file, info.Size())
	if err != nil {
		return nil, err
	}
	_, begin, length := code.Outer()
	end := begin + length
	return &entryReader{
		file: file, code: code, cache: c, left: begin,
		before: bufio.NewReaderSize(io.NewSectionReader(file, 0, begin), headBuffer),
		rest:   bufio.NewReaderSize(io.NewSectionReader(file, end, info.Size()-end), headBuffer),
	}, nil
}

// Read implements [io.Reader]. It fills p unless the entry ends: wazero relies on that.
func (r *entryReader) Read(p []byte) (int, error) {
	switch {
	case r.left > 0:
		n, err := io.ReadFull(r.before, p)
		r.left -= int64(n)
		return n, err
	case r.code.Size() == 0 || r.codeRead:
		return io.ReadFull(r.rest, p)
	case int64(len(p)) != r.code.Size():
		return 0, fmt.Errorf("wazero reads %d bytes of native code, and not %d at once", len(p), r.code.Size())
	}
	r.codeRead = true
	if r.cache.mapCode(p) {
		return len(p), nil
	}
	return io.ReadFull(r.code, p)
}

// Close implements [io.Closer].
func (r *entryReader) Close() error { return r.file.Close() }
