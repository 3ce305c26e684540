package auth

import (
	"context"
	"errors"
	"sync"
	"time"
)

// maxSilence is how long an Identity that is held goes on after its end, while no one can be asked to renew it.
const maxSilence = time.Minute

// A Renew says when an Identity that would end now ends instead. It blocks for a few seconds at most, and no longer than until ctx
// ends. An [UnavailableError] has it called again; any other error ends the Identity.
type Renew func(ctx context.Context) (until time.Time, err error)

// RenewedBy returns an Identity like i that lasts until a time, and after that while renew moves its end, as long as something
// holds it.
func (i *Identity) RenewedBy(until time.Time, renew Renew) *Identity {
	own := *i
	own.end = &ending{ctx: i.end.ctx, renewal: &renewal{ctx: i.end.ctx, renew: renew, until: until}}
	return &own
}

// A renewal moves the end of an Identity while something holds it. It has a timer while that is so, and no goroutine but while
// renew is called.
type renewal struct {
	ctx   context.Context // ends the Identity for good
	renew Renew

	mu      sync.Mutex // guards the fields below; not held while renew is called
	until   time.Time
	holders int
	timer   *time.Timer
	held    context.Context // while there are holders
	end     context.CancelFunc
}

func (r *renewal) ends() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.until
}

// hold adds a holder.
func (r *renewal) hold() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holders++; r.holders == 1 {
		held, end := context.WithCancel(r.ctx)
		r.held, r.end = held, end
		r.timer = time.AfterFunc(time.Until(r.until), func() { r.ask(held, end) })
	}
	return r.held
}

// release removes one. The last ends what hold has returned.
func (r *renewal) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holders--; r.holders == 0 {
		r.timer.Stop()
		r.end()
	}
}

// ask has the end moved, or ends what hold has returned.
func (r *renewal) ask(held context.Context, end context.CancelFunc) {
	if held.Err() != nil {
		return
	}
	until, err := r.renew(held)
	r.mu.Lock()
	defer r.mu.Unlock()
	if held.Err() != nil { // there may be other holders, with a timer of their own
		return
	}
	var unavailable *UnavailableError
	switch now := time.Now(); {
	case err == nil && until.After(now):
		r.until = until
		r.timer.Reset(until.Sub(now))
	case errors.As(err, &unavailable) && now.Sub(r.until) < maxSilence:
		r.timer.Reset(max(unavailable.RetryAfter, time.Second))
	default:
		end()
	}
}
