package runtime

import (
	"context"
	"sync"
)

const defaultSpares = 2

// spares keeps a few instances ready, so that a call need not wait for one to initialise. It starts to do so with the
// first call.
type spares struct {
	// fixed at creation
	make   func(context.Context) (*sandbox, error)
	ready  chan *sandbox
	wanted chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	start  sync.Once
}

func newSpares(count int, make_ func(context.Context) (*sandbox, error)) *spares {
	if count == 0 {
		count = defaultSpares
	}
	count = max(count, 0)
	ctx, cancel := context.WithCancel(context.Background())
	return &spares{
		make: make_, ready: make(chan *sandbox, count), wanted: make(chan struct{}, 1), ctx: ctx, cancel: cancel,
	}
}

// take gives an instance nobody else has or will have.
func (s *spares) take(ctx context.Context) (*sandbox, error) {
	if cap(s.ready) == 0 {
		return s.make(ctx)
	}
	s.start.Do(func() { s.done.Go(s.fill) })
	defer s.want()
	select {
	case inst := <-s.ready:
		return inst, nil
	default:
		return s.make(ctx)
	}
}

// want asks for the shelf to be filled again.
func (s *spares) want() {
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}

// fill keeps the shelf full. A guest that cannot initialise is left to the next call, which gets the error.
func (s *spares) fill() {
	for {
		select {
		case <-s.wanted:
		case <-s.ctx.Done():
			return
		}
		for len(s.ready) < cap(s.ready) {
			inst, err := s.make(s.ctx)
			if err != nil {
				break
			}
			s.ready <- inst // only this goroutine sends, so there is room
		}
	}
}

// close releases the instances and waits until none is being made. Nothing may be taken after it.
func (s *spares) close() {
	s.cancel()
	s.done.Wait()
	close(s.ready)
	for inst := range s.ready {
		inst.close()
	}
}
