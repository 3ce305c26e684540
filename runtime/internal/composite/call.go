package composite

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/wasmres/wasmres/abi"
)

// An outcome is what a call of a member came to.
type outcome[T any] struct {
	value T
	err   error
}

// within waits for a call of m, no longer than the source is patient. What comes later is dropped; the call itself goes
// on until it heeds the end of its context, and keeps its slot until then, so that a member that hangs costs a bounded
// number of goroutines. A panic is a failure of the member.
func within[T any](ctx context.Context, s *Source, m *member, call func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	select {
	case m.slots <- struct{}{}:
	case <-ctx.Done():
		return none, abi.Errorf(abi.CodeBusy, "%d calls of the provider are under way", maxCalls)
	}
	done := make(chan outcome[T], 1)
	started := s.start(func() {
		defer func() { <-m.slots }()
		o := guarded(ctx, call)
		s.used.add(m)
		done <- o
	})
	if !started {
		<-m.slots
		return none, abi.Errorf(abi.CodeUnavailable, "the server is closing")
	}
	return await(ctx, s, done)
}

// await waits for an outcome until ctx ends, and then takes it only if it is there and an answer: what a member says
// that was told to stop is that it was late, in whatever words.
func await[T any](ctx context.Context, s *Source, done <-chan outcome[T]) (T, error) {
	var o outcome[T]
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done:
		default:
			o.err = ctx.Err()
		}
	}
	if o.err != nil && ctx.Err() != nil {
		late := abi.Errorf(abi.CodeDeadline, "the provider has not answered within %v", s.cfg.Patience)
		return o.value, late.Because(o.err)
	}
	return o.value, o.err
}

// guarded makes a failure of a panic, which would end the process here, where nobody of those who asked can catch it.
func guarded[T any](ctx context.Context, call func(context.Context) (T, error)) (o outcome[T]) {
	defer func() {
		if p := recover(); p != nil {
			o.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	o.value, o.err = call(ctx)
	return o
}

// start runs a call that Close waits for, unless the source is closed.
func (s *Source) start(call func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.calls.Go(call)
	return true
}
