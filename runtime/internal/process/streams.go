package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// pipeDelay is how long a pipe may stay open, in hands that escaped the kill, once the child has ended.
const pipeDelay = time.Second

// streams are the standard ones of a child. They are open until the child is done with them, or abandoned.
type streams struct {
	theirs [3]*os.File // what the child inherits
	lent   []*os.File  // of these, those that are only the child's
	ours   []*os.File  // the other ends of pipes, and
	copies []func()    // what is done with them, until they are at their end
	going  sync.WaitGroup
}

// openStreams makes what stands behind the streams that cfg names.
func openStreams(cfg Config, stderr *headTailBuffer) (*streams, error) {
	s := &streams{}
	var errs [3]error
	s.theirs[0], errs[0] = s.input(cfg.Stdin)
	s.theirs[1], errs[1] = s.output(cfg.Stdout)
	if cfg.MaxStderr > 0 {
		s.theirs[2], errs[2] = s.output(stderr)
	} else {
		s.theirs[2], errs[2] = s.output(nil)
	}
	if err := errors.Join(errs[:]...); err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

// input returns what a child reads.
func (s *streams) input(from io.Reader) (*os.File, error) {
	if from == nil {
		return s.null(os.O_RDONLY)
	}
	if f, ok := from.(*os.File); ok {
		return f, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.pipe(r, w, func() { _, _ = io.Copy(w, from) }) // fails when the child is gone or reads no more
	return r, nil
}

// output returns what a child writes to.
func (s *streams) output(to io.Writer) (*os.File, error) {
	if to == nil {
		return s.null(os.O_WRONLY)
	}
	if f, ok := to.(*os.File); ok {
		return f, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.pipe(w, r, func() { _, _ = io.Copy(to, r) }) // fails when to has enough
	return w, nil
}

func (s *streams) null(flag int) (*os.File, error) {
	f, err := os.OpenFile(os.DevNull, flag, 0)
	if err == nil {
		s.lent = append(s.lent, f)
	}
	return f, err
}

// pipe keeps both ends. Ours is closed when what is done with it is over.
func (s *streams) pipe(theirs, ours *os.File, work func()) {
	s.lent = append(s.lent, theirs)
	s.ours = append(s.ours, ours)
	s.copies = append(s.copies, func() { work(); _ = ours.Close() })
}

// run lets the child have its ends alone, and copies.
func (s *streams) run() {
	closeFiles(s.lent)
	for _, copying := range s.copies {
		s.going.Go(copying)
	}
}

// abandon closes all when no child has come of it.
func (s *streams) abandon() {
	closeFiles(s.lent)
	closeFiles(s.ours)
}

// finish waits, once the child has ended, until what it left behind has been read.
func (s *streams) finish() {
	stop := time.AfterFunc(pipeDelay, func() { closeFiles(s.ours) })
	s.going.Wait()
	stop.Stop()
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // it was read, or written, as far as it goes; it may be closed already
	}
}
