package runtime

import (
	"context"

	"github.com/wasmres/wasmres/abi"
)

// grantLifecycle gives what the module asks for, as far as it is granted.
func (m *Module) grantLifecycle() abi.Lifecycle {
	asked := m.manifest.Limits.Lifecycle
	switch {
	case asked == abi.LifecycleFresh || asked > abi.LifecycleShared:
		return abi.LifecycleFresh
	case asked > m.cfg.Lifecycle:
		m.cfg.Logger.Warn("every request gets a fresh instance: the lifecycle the provider asks for is not granted",
			"asked", asked.String(), "granted", m.cfg.Lifecycle.String())
		return abi.LifecycleFresh
	}
	return asked
}

func (m *Module) newKeeper() keeper {
	switch m.granted {
	case abi.LifecycleSession:
		return &perSession{fresh: newPool(m), sessions: newSeats(m, m.cfg.Limits.Sessions)}
	case abi.LifecycleShared:
		return shared{newSeats(m, 1)}
	}
	return newPool(m)
}

// perSession keeps an instance for each session. A request that belongs to none gets a fresh one.
type perSession struct {
	fresh    *pool
	sessions *seats
}

func (p *perSession) queue(ctx context.Context, session string) (*seat, error) {
	if session == "" {
		return nil, nil
	}
	return p.sessions.queue(ctx, session)
}

func (p *perSession) of(at *seat) keeper {
	if at == nil {
		return p.fresh
	}
	return p.sessions
}

func (p *perSession) take(ctx context.Context, at *seat) (*sandbox, error) {
	return p.of(at).take(ctx, at)
}
func (p *perSession) leave(at *seat)     { p.of(at).leave(at) }
func (p *perSession) give(s *sandbox)    { p.of(s.seat).give(s) }
func (p *perSession) settle()            { p.fresh.settle() }
func (p *perSession) end(session string) { p.sessions.end(session) }
func (p *perSession) close() {
	p.fresh.close()
	p.sessions.close()
}

// shared keeps one instance for everybody.
type shared struct{ *seats }

func (k shared) queue(ctx context.Context, _ string) (*seat, error) { return k.seats.queue(ctx, "") }
func (k shared) end(string)                                         {}
