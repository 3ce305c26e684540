package layout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wasmres/wasmres/internal/filelock"
)

// lock locks the layout against processes that change it: alone, or together with others that only need it unchanged.
// It waits for at most Options.LockWait. The caller calls unlock.
func (l *Layout) lock(ctx context.Context, exclusive bool) (unlock func(), err error) {
	return l.lockFile(ctx, lockFile, exclusive)
}

// lockFile locks a file, which it creates if there is none. A link in its place is refused.
func (l *Layout) lockFile(ctx context.Context, name string, exclusive bool) (unlock func(), err error) {
	f, err := l.root.OpenFile(name, os.O_RDWR|os.O_CREATE|nonblock, l.mode(0o644))
	if err != nil {
		return nil, err
	}
	info, err := l.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(name + " is no regular file")
	}
	if err == nil {
		err = l.waitForLock(ctx, f, name, exclusive)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = filelock.Close(f) }, nil
}

func (l *Layout) waitForLock(ctx context.Context, f *os.File, name string, exclusive bool) error {
	const shortest, longest = 200 * time.Microsecond, 20 * time.Millisecond
	end := time.Now().Add(l.o.LockWait)
	for delay := shortest; ; delay = min(2*delay, longest) {
		switch locked, err := filelock.TryLock(f, exclusive); {
		case err != nil || locked:
			return err
		case time.Now().After(end):
			return fmt.Errorf("another process has had %s locked for %v: wait until it ends, or end it",
				filepath.Join(l.dir, filepath.FromSlash(name)), l.o.LockWait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(delay):
		}
	}
}

// shared locks the layout against removals, if this process can write to it at all.
func (l *Layout) shared(ctx context.Context) (unlock func(), err error) {
	unlock, err = l.lock(ctx, false)
	if cannotLock(err) {
		return func() {}, nil
	}
	return unlock, err
}

// cannotLock reports whether an error says that this process can lock nothing in the layout, and so change nothing.
func cannotLock(err error) bool { return isReadOnly(err) || errors.Is(err, errors.ErrUnsupported) }
