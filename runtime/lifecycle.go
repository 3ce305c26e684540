package runtime

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

func (l *local) newKeeper() keeper {
	switch l.Host.Lifecycle() {
	case abi.LifecycleSession:
		return &perSession{fresh: newPool(l), sessions: newSeats(l, l.Limits.Sessions)}
	case abi.LifecycleShared:
		return shared{newSeats(l, 1)}
	}
	return newPool(l)
}

// perSession keeps an instance for each session. A request that belongs to none gets a fresh one.
type perSession struct {
	fresh    *pool
	sessions *seats
}

func (p *perSession) take(ctx context.Context, session string) (*sandbox, error) {
	if session == "" {
		return p.fresh.take(ctx, session)
	}
	return p.sessions.take(ctx, session)
}

func (p *perSession) give(s *sandbox) {
	if s.seat == nil {
		p.fresh.give(s)
		return
	}
	p.sessions.give(s)
}

func (p *perSession) settle()            { p.fresh.settle() }
func (p *perSession) end(session string) { p.sessions.end(session) }
func (p *perSession) close() {
	p.fresh.close()
	p.sessions.close()
}

// shared keeps one instance for everybody.
type shared struct{ *seats }

func (k shared) take(ctx context.Context, _ string) (*sandbox, error) { return k.seats.take(ctx, "") }
func (k shared) end(string)                                           {}
