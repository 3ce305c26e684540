package pool

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/instance"
)

// newPool makes the pool for the lifecycle in force.
func newPool(f *instance.Factory) pool {
	switch f.Host.Lifecycle() {
	case abi.LifecycleSession:
		return &perSession{fresh: newFresh(f), sessions: newSessions(f, f.Limits.Sessions)}
	case abi.LifecycleShared:
		return shared{newSessions(f, 1)}
	}
	return newFresh(f)
}

// perSession stores an instance for each session. A request without a session gets an instance equal to the image.
type perSession struct {
	fresh    *freshPool
	sessions *sessions
}

func (p *perSession) acquire(ctx context.Context, session string) (*instance.Instance, error) {
	if session == "" {
		return p.fresh.acquire(ctx, session)
	}
	return p.sessions.acquire(ctx, session)
}

func (p *perSession) release(s *instance.Instance) {
	if !p.sessions.owns(s) {
		p.fresh.release(s)
		return
	}
	p.sessions.release(s)
}

func (p *perSession) resetUsed()                { p.fresh.resetUsed() }
func (p *perSession) endSession(session string) { p.sessions.endSession(session) }
func (p *perSession) close() {
	p.fresh.close()
	p.sessions.close()
}

// shared stores one instance for all calls.
type shared struct{ *sessions }

func (k shared) acquire(ctx context.Context, _ string) (*instance.Instance, error) {
	return k.sessions.acquire(ctx, "")
}
func (k shared) endSession(string) {}
