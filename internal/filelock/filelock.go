// Package filelock locks files between processes.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrHeld is the error of those that do not wait for a lock which another process has.
var ErrHeld = errors.New("its lock is held")

// maxWait bounds the wait for a lock, which programs hold for milliseconds.
const maxWait = 30 * time.Second

// Lock locks a file, which it creates if there is none, against other processes and other calls of this one. It waits until ctx
// ends, for at most 30 seconds. The caller calls unlock; the end of the process unlocks too.
func Lock(ctx context.Context, file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = Close(f) }, nil
}

func wait(ctx context.Context, f *os.File) error {
	const shortest, longest = 200 * time.Microsecond, 20 * time.Millisecond
	end := time.Now().Add(maxWait)
	for delay := shortest; ; delay = min(2*delay, longest) {
		switch locked, err := TryLock(f, true); {
		case err != nil || locked:
			return err
		case time.Now().After(end):
			return fmt.Errorf("another process has had %s locked for %v: wait until it ends, or end it", f.Name(), maxWait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(delay):
		}
	}
}
