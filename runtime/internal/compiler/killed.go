package compiler

import (
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	// killedRetry is when a caller may try again whose module the system did not let a child compile; twice as long each time, and
	// maxKilledRetry at most.
	killedRetry    = 5 * time.Second
	maxKilledRetry = 10 * time.Minute
	// maxKilled bounds how many modules are remembered of which the system has killed the children.
	maxKilled = 1024
)

// killed has the modules of which the system has killed the children, by digest: at most maxKilled. They are compiled again after a wait,
// since the machine may have more memory then.
type killed map[digest]kill

type kill struct {
	wait  time.Duration
	until time.Time
}

// err returns the error of a module that is not to be compiled yet; nil for any other one.
func (k killed) err(d digest) error {
	if wait := time.Until(k[d].until); wait > 0 {
		return killedErr(wait)
	}
	return nil
}

func killedErr(wait time.Duration) *abi.Error {
	e := abi.Errorf(abi.CodeUnavailable, "the module cannot be compiled now: the machine has too little memory")
	e.RetryAfter = (wait + time.Millisecond - 1).Truncate(time.Millisecond)
	return e
}

// add notes that the children of a module were killed just now, and returns the error for its callers. Of too many modules it forgets the
// one that may be compiled first.
func (k killed) add(d digest) *abi.Error {
	if _, ok := k[d]; !ok && len(k) >= maxKilled {
		var first digest
		for other, o := range k {
			if f, ok := k[first]; !ok || o.until.Before(f.until) {
				first = other
			}
		}
		delete(k, first)
	}
	wait := min(max(2*k[d].wait, killedRetry), maxKilledRetry)
	k[d] = kill{wait, time.Now().Add(wait)}
	return killedErr(wait)
}
