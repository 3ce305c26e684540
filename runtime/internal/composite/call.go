package composite

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/wasmres/wasmres/abi"
)

// An outcome is the result of a call of a member.
type outcome[T any] struct {
	value T
	err   error
}

// callMember calls m and waits for at most Config.MemberTimeout; it discards a later result. A call that ignores the
// end of its context goes on and keeps its slot, so that a member that hangs costs a bounded number of goroutines. It
// returns a panic as an error of the member.
func callMember[T any](ctx context.Context, s *Source, m *member, call func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, cancel := context.WithTimeout(ctx, s.cfg.MemberTimeout)
	defer cancel()
	select {
	case m.slots <- struct{}{}:
	case <-ctx.Done():
		return none, abi.Errorf(abi.CodeBusy, "%d calls of the provider are under way", maxCalls)
	}
	done := make(chan outcome[T], 1)
	started := s.start(func() {
		defer func() { <-m.slots }()
		o := withRecover(ctx, call)
		s.used.add(m)
		done <- o
	})
	if !started {
		<-m.slots
		return none, abi.Errorf(abi.CodeUnavailable, "the server is closing")
	}
	return await(ctx, s, done)
}

// await waits for an outcome until ctx ends. If a member returns an error after that, the error is that the member was
// late.
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
		late := abi.Errorf(abi.CodeDeadline, "the provider has not answered within %v", s.cfg.MemberTimeout)
		return o.value, late.Because(o.err)
	}
	return o.value, o.err
}

// withRecover returns a panic as an error. Call runs on a goroutine of its own, where no caller can recover.
func withRecover[T any](ctx context.Context, call func(context.Context) (T, error)) (o outcome[T]) {
	defer func() {
		if p := recover(); p != nil {
			o.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	o.value, o.err = call(ctx)
	return o
}

// start runs a call, for which Close waits. It returns false when the source is closed.
func (s *Source) start(call func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.calls.Go(call)
	return true
}
