package provider

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// A playback answers the calls of services in a second run as those of the first were answered, in the same order. It is safe for
// concurrent use.
type playback struct {
	mu      sync.Mutex // guards the fields below
	left    []guest.Exchange
	again   int    // how often the first of left was given
	strayed string // in what the run differs from the first one; empty if in nothing
}

// answer answers the next call.
func (t *playback) answer(id abi.Service, request []byte) (capability.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.strayed == "" && (len(t.left) == 0 || t.left[0].Service != id || !bytes.Equal(t.left[0].Request, request)) {
		t.strayed = fmt.Sprintf("the guest calls the service %d, and in the first run it did not at this point", id)
	}
	if t.strayed != "" {
		return capability.Response{}, abi.Errorf(abi.CodeUnavailable, "the run differs from the first one")
	}
	x := &t.left[0]
	if t.again++; t.again > x.Again {
		t.left, t.again = t.left[1:], 0
	}
	if x.Code != abi.CodeOK {
		return capability.Response{}, &abi.Error{Code: x.Code}
	}
	return capability.Response{Message: x.Response, Body: x.Body}, nil
}

// difference says in what the calls of a run that has ended differ from those of the first run; empty if in nothing.
func (t *playback) difference() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.left); t.strayed == "" && n > 0 {
		return fmt.Sprintf("the guest has not made the last %d of its calls of services", n)
	}
	return t.strayed
}

// A playedService answers from the playback of the run under way.
type playedService struct {
	of *comparer
	id abi.Service
}

// Immediate implements [capability.Immediate].
func (playedService) Immediate() {}

// Call implements [capability.Service].
func (s playedService) Call(_ context.Context, request []byte) (capability.Response, error) {
	return s.of.tape.Load().answer(s.id, request)
}
