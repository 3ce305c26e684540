package sqlitekv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

const (
	maxWait    = 10 * time.Second      // for a lock of another process, when the call has no deadline
	maxBackoff = 20 * time.Millisecond // between two tries
	minBackoff = time.Millisecond
)

// retryLocked runs do again while another process has the file locked, until ctx ends or maxWait has passed. SQLite's own
// wait for locks is short, since no context ends it.
func (s *Store) retryLocked(ctx context.Context, do func() error) error {
	began := time.Now()
	for backoff := minBackoff; ; backoff = min(2*backoff, maxBackoff) {
		if s.closed.Load() {
			return kvcap.ErrClosed
		}
		err := do()
		if ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		if !locked(err) || time.Since(began) > maxWait {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(backoff):
		}
	}
}

func locked(err error) bool {
	code := primary(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// primary returns SQLite's primary result code; 0 for an error that is not SQLite's.
func primary(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// advice returns the code for guests and what the operator can do; an empty advice when the error is unknown.
func advice(err error) (abi.Code, string) {
	switch primary(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return abi.CodeUnavailable, "another process holds its lock"
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return abi.CodeUnavailable, "the file cannot be read or written: the disk may be full"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return abi.CodeUnavailable, "the file cannot be opened or written: check its permissions"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return abi.CodeInternal, "the file is damaged: restore a copy, or move it away to start a new one"
	}
	return abi.CodeInternal, ""
}

// withAdvice puts the advice before the error, for the operator.
func withAdvice(err error) error {
	if _, text := advice(err); text != "" {
		return fmt.Errorf("%s: %w", text, err)
	}
	return err
}

// public returns the error for the guest, with err as its cause. It returns errors that [kvcap.Store] names as they
// are.
func (s *Store) public(err error) error {
	var known *abi.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, kvcap.ErrConflict), errors.Is(err, kvcap.ErrClosed):
		return err
	case s.closed.Load():
		return kvcap.ErrClosed
	}
	code, _ := advice(err)
	message := "the key-value store has failed"
	if code == abi.CodeUnavailable {
		message = "the key-value store cannot be used at the moment"
	}
	return abi.Errorf(code, "%s", message).Because(fmt.Errorf("key-value store %s: %w", s.file, withAdvice(err)))
}
