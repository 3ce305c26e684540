// Package pace delays the writes of an answer, so that its client is sent no more bytes than its account allows.
package pace

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/admission"
)

// ErrTooSlow means that the client may not be sent the bytes of an answer within [admission.MaxWait].
var ErrTooSlow = errors.New("the answer is more than the client may be sent in time")

// A Pace delays the writes of one answer, as the account of its client demands. The zero Pace delays none. One goroutine calls
// Begin and Wait; any may call Abort.
type Pace struct {
	account admission.Account // nil for none
	left    time.Duration     // for which writes may still be delayed

	mu      sync.Mutex // guards the fields below
	aborted bool
	abort   chan struct{} // closed by Abort; nil while nothing waits
}

// Begin begins an answer.
func (p *Pace) Begin(account admission.Account) {
	p.account, p.left = account, admission.MaxWait
	if account == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.aborted = false
}

// IsActive reports whether writes may be delayed.
func (p *Pace) IsActive() bool { return p.account != nil }

// Wait counts bytes of the answer, and waits until they may be sent. The error is that of ctx, or ErrTooSlow.
func (p *Pace) Wait(ctx context.Context, bytes int) error {
	if p.account == nil {
		return nil
	}
	wait := p.account.Write(bytes)
	if wait <= 0 {
		return nil
	}
	if wait > p.left {
		p.account.Write(-bytes)
		return ErrTooSlow
	}
	p.left -= wait
	return p.sleep(ctx, wait)
}

func (p *Pace) sleep(ctx context.Context, wait time.Duration) error {
	p.mu.Lock()
	if p.aborted {
		p.mu.Unlock()
		return ErrTooSlow
	}
	abort := make(chan struct{})
	p.abort = abort
	p.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-abort:
		return ErrTooSlow
	}
}

// Abort ends a Wait, and those of the same answer that follow.
func (p *Pace) Abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.aborted = true
	if p.abort != nil {
		close(p.abort)
		p.abort = nil
	}
}
