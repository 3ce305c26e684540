package runtime

import (
	"context"
	"sync"

	"github.com/wasmres/wasmres/abi"
)

// turns let calls that share a guest's state follow one another.
type turns struct {
	module *Module

	mu   sync.Mutex // guards the field below, and wanted of each turn
	open map[string]*turn
}

// A turn is what calls with the same key wait for.
type turn struct {
	key    string
	token  chan struct{} // holds one: who has it may go on
	wanted int           // calls that have or wait for it
}

// maxWaiting is how many calls may have or wait for one turn.
const maxWaiting = 1000

// queue waits until it is a call's turn, where calls of its session take turns; nil where they do not.
func (t *turns) queue(ctx context.Context, session string) (*turn, error) {
	switch t.module.host.lifecycle {
	case abi.LifecycleShared:
		session = ""
	case abi.LifecycleSession:
		if session == "" {
			return nil, nil
		}
	default:
		return nil, nil
	}
	at, err := t.enter(session)
	if err != nil {
		return nil, err
	}
	if err := t.module.await(ctx, at.token, "the session is busy"); err != nil {
		t.rise(at)
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		t.leave(at)
		return nil, err
	}
	return at, nil
}

func (t *turns) enter(key string) (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.open[key]
	if at == nil {
		at = &turn{key: key, token: make(chan struct{}, 1)}
		at.token <- struct{}{}
		t.open[key] = at
	}
	if at.wanted == maxWaiting {
		return nil, t.module.host.busy("the session is busy")
	}
	at.wanted++
	return at, nil
}

// leave lets the next call have its turn.
func (t *turns) leave(at *turn) {
	if at == nil {
		return
	}
	at.token <- struct{}{}
	t.rise(at)
}

// rise gives up waiting for, or having, a turn.
func (t *turns) rise(at *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.wanted--; at.wanted == 0 {
		delete(t.open, at.key)
	}
}
