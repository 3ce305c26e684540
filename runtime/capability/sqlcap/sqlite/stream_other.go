//go:build !linux

package sqlite

import (
	"errors"
	"os"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// A stream is the parent's end of the connection to a helper. One goroutine reads, writes and closes; interrupt is safe for
// concurrent use.
type stream struct {
	from, to *os.File
	box      *box // nil
}

// newStream opens a connection. The caller closes the stream, and the helper's ends when the helper has them.
func newStream() (s *stream, theirs ends, err error) {
	in, to, err := os.Pipe()
	if err != nil {
		return nil, ends{}, err
	}
	from, out, err := os.Pipe()
	if err != nil {
		return nil, ends{}, errors.Join(err, in.Close(), to.Close())
	}
	return &stream{from: from, to: to}, ends{in: in, out: out}, nil
}

func (*stream) lend(*process.Process) {}
func (*stream) takeBack()             {}
func (*stream) part(*process.Process) {}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) { return s.from.Read(p) }

// Write implements [io.Writer].
func (s *stream) Write(p []byte) (int, error) { return s.to.Write(p) }

// interrupt ends reads and writes under way, and all later ones. Where pipes have no deadlines, only the exit of the helper
// ends them.
func (s *stream) interrupt() {
	_ = s.to.SetWriteDeadline(time.Unix(1, 0))
	_ = s.from.SetReadDeadline(time.Unix(1, 0))
}

// Close closes the stream.
func (s *stream) Close() error { return errors.Join(s.to.Close(), s.from.Close()) }
