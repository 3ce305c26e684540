package mcp

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// ErrEnough is the error by which the sink of [Core.Download] says that it needs no more bytes. It is no failure.
var ErrEnough error = abi.Errorf(abi.CodeCancelled, "No more is wanted")

// surplus is how many bytes a source may push after ErrEnough. Stopping it earlier would cost more, and lose its reply.
const surplus = 1 << 20

// A firstContentSink is the [abi.Sink] that passes on one content of a read: the one with the requested URI or, with
// first, the first of all. It discards the others. After sink has returned [ErrEnough], it gets no more.
type firstContentSink struct {
	// fixed at creation
	uri  string // in its normal form
	sink abi.Sink

	first   bool
	state   sinkState
	others  bool   // contents with other URIs came before
	bytes   uint64 // of the content, so far
	wasted  uint64 // bytes after ErrEnough
	stopped bool   // the source was stopped before its end
}

type sinkState uint8

const (
	seeking  sinkState = iota
	taking             // the sink gets the content
	counting           // the sink needs no more, but the content goes on
	passed             // another content has begun
)

func newFirstContentSink(uri abi.URI, sink abi.Sink) *firstContentSink {
	return &firstContentSink{uri: uri.Normal(), sink: sink}
}

// readFirstContent reads one content of a resource into s. If none has the requested URI, as with a directory, it reads
// the resource again for the first content: buffering all contents would take memory without bound.
func (c *Core) readFirstContent(ctx context.Context, req *resource.Request, s *firstContentSink) (*abi.Reply, error) {
	reply, err := c.cfg.Source.Read(ctx, req, s)
	if err == nil && s.state == seeking && s.others {
		s.first = true
		reply, err = c.cfg.Source.Read(ctx, req, s)
	}
	switch {
	case errors.Is(err, ErrEnough):
		return &abi.Reply{}, nil
	case err == nil && s.state == seeking:
		return nil, abi.Errorf(abi.CodeInternal, "The provider gave no content")
	}
	return reply, err
}

// Unwrap returns the sink that may keep the guest waiting.
func (s *firstContentSink) Unwrap() abi.Sink { return s.sink }

// Content implements [abi.Sink].
func (s *firstContentSink) Content(c *abi.Content) error {
	switch {
	case s.state != seeking:
		s.state = passed
		return nil
	case !s.first && abi.NormalURI(c.URI) != s.uri:
		s.others = true
		return nil
	}
	s.state = taking
	return s.noteEnough(s.sink.Content(c))
}

// noteEnough notes that the sink needs no more.
func (s *firstContentSink) noteEnough(err error) error {
	if err == ErrEnough {
		s.state, err = counting, nil
	}
	return err
}

// Body implements [abi.Sink].
func (s *firstContentSink) Body(p []byte) error {
	if s.state == taking || s.state == counting {
		s.bytes += uint64(len(p))
	}
	switch s.state {
	case seeking:
		return nil
	case taking:
		return s.noteEnough(s.sink.Body(p))
	}
	if s.wasted += uint64(len(p)); s.wasted > surplus {
		s.stopped = true
		return ErrEnough
	}
	return nil
}

// Progress implements [abi.Sink]. It discards the progress of a second read, since progress must not decrease.
func (s *firstContentSink) Progress(p abi.Progress) {
	if !s.first {
		s.sink.Progress(p)
	}
}
