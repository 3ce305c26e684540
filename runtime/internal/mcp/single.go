package mcp

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/abi"
)

// ErrEnough is what the sink of [Core.Download] answers when it wants no more. That is no failure.
var ErrEnough error = abi.Errorf(abi.CodeCancelled, "No more is wanted")

// surplus is how many bytes a source may go on with after enough: stopping it costs more, and loses what its reply
// says.
const surplus = 1 << 20

// A single is the [abi.Sink] that lets one content of a read through: that of the URI asked for or, with first, the
// first of all. The others come to nothing. When sink answers [ErrEnough], it gets no more.
type single struct {
	// fixed at creation
	uri  string // in its normal form
	sink abi.Sink

	first   bool
	state   singleState
	others  bool   // there were contents of other URIs before
	bytes   uint64 // of the content, as far as it came
	wasted  uint64 // bytes after enough
	stopped bool   // the source was, before its end
}

type singleState uint8

const (
	seeking  singleState = iota
	taking               // the sink gets the content
	counting             // the sink has enough, but the content goes on
	passed               // another content has begun
)

func newSingle(uri string, sink abi.Sink) *single {
	return &single{uri: abi.NormalURI(uri), sink: sink}
}

// readSingle lets one content of a resource through to s. When none has the URI asked for, as with a folder, the
// resource is read a second time for the first one: holding contents back until it is known would take memory without
// bound.
func (c *Core) readSingle(ctx context.Context, req *abi.Request, s *single) (*abi.Reply, error) {
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

// Unwrap says who may keep the guest waiting.
func (s *single) Unwrap() abi.Sink { return s.sink }

// Content implements [abi.Sink].
func (s *single) Content(c *abi.Content) error {
	switch {
	case s.state != seeking:
		s.state = passed
		return nil
	case !s.first && abi.NormalURI(c.URI) != s.uri:
		s.others = true
		return nil
	}
	s.state = taking
	return s.heed(s.sink.Content(c))
}

// heed takes note of a sink that has enough.
func (s *single) heed(err error) error {
	if err == ErrEnough {
		s.state, err = counting, nil
	}
	return err
}

// Body implements [abi.Sink].
func (s *single) Body(p []byte) error {
	if s.state == taking || s.state == counting {
		s.bytes += uint64(len(p))
	}
	switch s.state {
	case seeking:
		return nil
	case taking:
		return s.heed(s.sink.Body(p))
	}
	if s.wasted += uint64(len(p)); s.wasted > surplus {
		s.stopped = true
		return ErrEnough
	}
	return nil
}

// Progress implements [abi.Sink]. Of a second read there is none: progress never goes back.
func (s *single) Progress(p abi.Progress) {
	if !s.first {
		s.sink.Progress(p)
	}
}
