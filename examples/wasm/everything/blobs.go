package main

import (
	"io"
	"strings"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

const mib = 1 << 20

func registerBlobs() {
	wasmres.Resource("test://blob/1m", repeated(pattern, mib)).
		Name("blob-1m").Describe("1 MiB of bytes.").MIME("application/octet-stream").Size(mib)
	wasmres.Resource("test://blob/64m", repeated(pattern, 64*mib)).
		Name("blob-64m").Describe("64 MiB of bytes, as a stream.").MIME("application/octet-stream").Size(64 * mib)
	wasmres.Resource("test://text/1m", asText(repeated(prose, mib))).
		Name("text-1m").Describe("1 MiB of prose.").MIME("text/plain").Size(mib)
}

// pattern is one period of the blobs: byte i is (i*31 + (i>>8)) & 0xff, which repeats after 65,536 bytes. Each row of
// 256 bytes is the first one, rotated: adding 1 to every byte of i*31 is moving on by 223 places, for 31*223 is 1 modulo
// 256. So only one row is computed, and the others are copied.
func pattern() []byte {
	var row [512]byte
	for i := range 256 {
		row[i] = byte(i * 31)
	}
	copy(row[256:], row[:256])
	block := make([]byte, 64<<10)
	for r := range 256 {
		copy(block[r<<8:], row[r*223&0xff:][:256])
	}
	return block
}

// prose is 16 KiB of text with all that makes escaping it harder.
func prose() []byte {
	const size = 16 << 10
	const paragraph = "“It is a truth universally acknowledged,” she said, \"that a server in possession of a good\n" +
		"protocol must be in want of a client.\"\tC:\\path\\to\\it, <b>&amp;</b>, naïve café, 日本語, Ελληνικά, 🙂.\r\n\n"
	text := strings.Repeat(paragraph, size/len(paragraph))
	return []byte(text + strings.Repeat("=", size-len(text)))
}

// repeated answers with size bytes, block after block, of which only one is ever made.
func repeated(block func() []byte, size int64) func(*wasmres.Request) (wasmres.Content, error) {
	return func(*wasmres.Request) (wasmres.Content, error) {
		return wasmres.Stream(&blocks{block: block(), left: size}, size), nil
	}
}

func asText(read func(*wasmres.Request) (wasmres.Content, error)) func(*wasmres.Request) (wasmres.Content, error) {
	return func(r *wasmres.Request) (wasmres.Content, error) {
		c, err := read(r)
		return c.AsText(), err
	}
}

// blocks is a stream of the same block again and again.
type blocks struct {
	block []byte
	at    int   // where in the block
	left  int64 // bytes still to come
}

// next gives at most n of the bytes to come, without a copy.
func (s *blocks) next(n int64) []byte {
	p := s.block[s.at:]
	p = p[:min(int64(len(p)), s.left, n)]
	s.at = (s.at + len(p)) % len(s.block)
	s.left -= int64(len(p))
	return p
}

// Read implements [io.Reader].
func (s *blocks) Read(dst []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	return copy(dst, s.next(int64(len(dst)))), nil
}

// WriteTo implements [io.WriterTo], which spares the SDK a buffer.
func (s *blocks) WriteTo(w io.Writer) (sent int64, err error) {
	for s.left > 0 && err == nil {
		var n int
		n, err = w.Write(s.next(s.left))
		sent += int64(n)
	}
	return sent, err
}
