package limiter

import (
	"context"
	"sync"

	"github.com/wasmres/wasmres/abi"
)

// maxWaiting is how many calls of one session may run or wait.
const maxWaiting = 1000

// sessions has the sessions of which calls run or wait. The zero value is ready.
type sessions struct {
	mu   sync.Mutex // guards the field below, and refs of each session
	open map[string]*session
}

// A session has the calls that share a guest's state.
type session struct {
	id    string
	token chan struct{} // holds one token: the call that has it may run
	refs  int           // calls that run or wait
}

const sessionBusy = "the session is busy"

// lockSession waits until the calls of a session before this one have ended. It gives nil when id is empty.
func (l *Limiter) lockSession(ctx context.Context, id string) (*session, error) {
	if id == "" {
		return nil, nil
	}
	s := l.sessions.get(id)
	if s == nil {
		return nil, abi.Busy(l.cfg.Timeout, sessionBusy)
	}
	if err := l.await(ctx, s.token, sessionBusy); err != nil {
		l.sessions.put(s)
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		l.sessions.unlock(s)
		return nil, err
	}
	return s, nil
}

// get returns the session of an id, counting the call; nil when too many calls wait already.
func (all *sessions) get(id string) *session {
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.open[id]
	if s == nil {
		s = &session{id: id, token: make(chan struct{}, 1)}
		s.token <- struct{}{}
		if all.open == nil {
			all.open = map[string]*session{}
		}
		all.open[id] = s
	}
	if s.refs == maxWaiting {
		return nil
	}
	s.refs++
	return s
}

// unlock lets the next call of the session run. A nil session has no calls.
func (all *sessions) unlock(s *session) {
	if s == nil {
		return
	}
	s.token <- struct{}{}
	all.put(s)
}

// put ends the counting of one call. A session without calls is forgotten.
func (all *sessions) put(s *session) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if s.refs--; s.refs == 0 {
		delete(all.open, s.id)
	}
}
