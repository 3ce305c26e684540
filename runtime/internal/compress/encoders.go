package compress

import (
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// window is how far back zstd looks, in bytes: each encoder holds a few times as much.
const window = 256 << 10

// Encoders are encoders to be used again. The zero Encoders is ready for use, and safe for concurrent use.
type Encoders struct {
	// Keep is how many idle encoders of each coding are stored, of a few MiB together. 0 means one for each processor.
	Keep int

	mu   sync.Mutex          // guards idle
	idle [Zstd + 1][]encoder // by coding
}

// An encoder is one of either coding. Reset makes it new.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// Open begins a stream of one coding, other than Identity, which is written to dst. The Writer must be closed.
func (e *Encoders) Open(c Coding, dst io.Writer) (*Writer, error) {
	enc, err := e.take(c)
	if err != nil {
		return nil, err
	}
	enc.Reset(dst)
	return &Writer{from: e, coding: c, encoder: enc}, nil
}

// Append appends the whole of src, coded, to dst. Identity copies.
func (e *Encoders) Append(dst []byte, c Coding, src []byte) ([]byte, error) {
	if c == Identity {
		return append(dst, src...), nil
	}
	enc, err := e.take(c)
	if err != nil {
		return dst, err
	}
	defer e.give(c, enc)
	if z, ok := enc.(*zstd.Encoder); ok {
		return z.EncodeAll(src, dst), nil
	}
	out := &buffer{dst}
	enc.Reset(out)
	_, err = enc.Write(src)
	if closeErr := enc.Close(); err == nil {
		err = closeErr
	}
	return out.b, err
}

// A buffer is a slice to be written to.
type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

// take returns an idle encoder, or a new one.
func (e *Encoders) take(c Coding) (encoder, error) {
	if c != Gzip && c != Zstd {
		return nil, fmt.Errorf("compress: there is no encoder for coding %d", c)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.idle[c]); n > 0 {
		enc := e.idle[c][n-1]
		e.idle[c][n-1] = nil
		e.idle[c] = e.idle[c][:n-1]
		return enc, nil
	}
	if c == Gzip {
		return gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(window), zstd.WithEncoderCRC(false),
		zstd.WithZeroFrames(true))
}

// give stores an encoder for reuse, or drops it if there are enough.
func (e *Encoders) give(c Coding, enc encoder) {
	enc.Reset(nil) // what it wrote to is not kept alive
	keep := e.Keep
	if keep <= 0 {
		keep = runtime.GOMAXPROCS(0)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.idle[c]) < keep {
		e.idle[c] = append(e.idle[c], enc)
	}
}
