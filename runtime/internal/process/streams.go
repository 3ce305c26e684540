package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// pipeDelay is how long a pipe may stay open after the child's end, in processes that escaped the kill.
const pipeDelay = time.Second

// streams are the standard streams of a child. They are open until finish or abandon.
type streams struct {
	theirs [3]*os.File // what the child inherits
	lent   []*os.File  // those of them that only the child uses
	ours   []*os.File  // the other ends of pipes
	copies []func()    // what copies between those and the caller
	going  sync.WaitGroup
}

// openStreams opens the streams that cfg names.
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

// input returns the file that a child reads.
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
	s.pipe(r, w, func() { _, _ = io.Copy(w, from) }) // fails when the child has ended or stops reading
	return r, nil
}

// output returns the file that a child writes to.
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
	s.pipe(w, r, func() { _, _ = io.Copy(to, r) }) // fails when to refuses more
	return w, nil
}

func (s *streams) null(flag int) (*os.File, error) {
	f, err := os.OpenFile(os.DevNull, flag, 0)
	if err == nil {
		s.lent = append(s.lent, f)
	}
	return f, err
}

// pipe stores both ends. It closes ours when work has ended.
func (s *streams) pipe(theirs, ours *os.File, work func()) {
	s.lent = append(s.lent, theirs)
	s.ours = append(s.ours, ours)
	s.copies = append(s.copies, func() { work(); _ = ours.Close() })
}

// run closes the child's ends here, and copies.
func (s *streams) run() {
	closeFiles(s.lent)
	for _, copying := range s.copies {
		s.going.Go(copying)
	}
}

// abandon closes everything when the child was not started.
func (s *streams) abandon() {
	closeFiles(s.lent)
	closeFiles(s.ours)
}

// finish waits, after the child's end, until its remaining output has been read.
func (s *streams) finish() {
	stop := time.AfterFunc(pipeDelay, func() { closeFiles(s.ours) })
	s.going.Wait()
	stop.Stop()
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // the copying is done, and may have closed it already
	}
}
