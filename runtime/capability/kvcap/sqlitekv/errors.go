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
	maxWait  = 10 * time.Second      // for a lock of another process, where the call has no deadline
	longNap  = 20 * time.Millisecond // between two tries
	shortNap = time.Millisecond
)

// patiently does something until no other process is in its way, as long as ctx allows. SQLite's own waiting, which no
// context ends, is kept short for that.
func (s *Store) patiently(ctx context.Context, do func() error) error {
	began := time.Now()
	for nap := shortNap; ; nap = min(2*nap, longNap) {
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
		case <-time.After(nap):
		}
	}
}

func locked(err error) bool {
	code := primary(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// primary gives SQLite's primary result code; 0 for an error that is not SQLite's.
func primary(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// words says what is wrong, in general, and how a guest learns of it.
func words(err error) (abi.Code, string) {
	switch primary(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return abi.CodeUnavailable, "another process keeps it locked"
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return abi.CodeUnavailable, "it cannot be read or written, perhaps since the disk is full"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return abi.CodeUnavailable, "it may not be opened or written"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return abi.CodeInternal, "it is damaged: restore a copy, or move it away to begin a new one"
	}
	return abi.CodeInternal, ""
}

// worded adds what is wrong in general, for the operator.
func worded(err error) error {
	if _, text := words(err); text != "" {
		return fmt.Errorf("%s: %w", text, err)
	}
	return err
}

// public gives what a guest may know of an error, with the rest as its cause. The errors of [kvcap.Store] stay.
func (s *Store) public(err error) error {
	var known *abi.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, kvcap.ErrConflict), errors.Is(err, kvcap.ErrClosed):
		return err
	case s.closed.Load():
		return kvcap.ErrClosed
	}
	code, _ := words(err)
	message := "the key-value store has failed"
	if code == abi.CodeUnavailable {
		message = "the key-value store cannot be used at the moment"
	}
	return abi.Errorf(code, "%s", message).Because(fmt.Errorf("key-value store %s: %w", s.file, worded(err)))
}
