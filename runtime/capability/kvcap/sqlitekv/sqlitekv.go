package sqlitekv

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

const (
	maxConnections = 4
	maxExpired     = 100 // values removed with one change
)

// A Store is the [kvcap.Store] of one namespace, on disk.
type Store struct {
	file    string
	quota   kvcap.Quota
	now     func() time.Time
	db      *sql.DB
	writing chan struct{} // a semaphore of one: SQLite has one writer at a time
	closed  atomic.Bool

	getStmt, lookStmt, putStmt, deleteStmt, listStmt, expireStmt, usageStmt *sql.Stmt
}

var _ kvcap.Store = (*Store)(nil)

// Get implements [kvcap.Store].
func (s *Store) Get(ctx context.Context, key string) (abi.KVEntry, []byte, error) {
	entry := abi.KVEntry{Key: key}
	var value []byte
	err := s.retryLocked(ctx, func() error {
		return s.getStmt.QueryRowContext(ctx, key).Scan(&entry.Version, &entry.ExpiresMillis, &value)
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && hasExpired(entry.ExpiresMillis, s.now()) {
		return abi.KVEntry{}, nil, kvcap.ErrNotFound
	}
	if err != nil {
		return abi.KVEntry{}, nil, s.public(err)
	}
	entry.Size = uint64(len(value))
	return entry, value, nil
}

// Put implements [kvcap.Store].
func (s *Store) Put(ctx context.Context, p kvcap.Put) (entry abi.KVEntry, err error) {
	if err := s.quota.CheckValue(p.Value); err != nil {
		return entry, err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		now := s.now()
		if err := s.expire(ctx, tx, now, maxExpired); err != nil {
			return err
		}
		found, err := s.checkPut(ctx, tx, &p, now)
		if entry = found.entry; err != nil {
			return err
		}
		entry = abi.KVEntry{
			Key: p.Key, Size: uint64(len(p.Value)),
			ExpiresMillis: kvcap.Expiry(p.TTL, now), Version: kvcap.NextVersion(found.newest, now),
		}
		value := p.Value
		if value == nil {
			value = []byte{} // nil would be NULL
		}
		_, err = tx.StmtContext(ctx, s.putStmt).ExecContext(ctx, p.Key, int64(entry.Version), entry.ExpiresMillis, value)
		return err
	})
	if err != nil && !errors.Is(err, kvcap.ErrConflict) {
		entry = abi.KVEntry{}
	}
	return entry, s.public(err)
}

// checkPut returns what is stored under the key of a put, and an error if the put is not allowed.
func (s *Store) checkPut(ctx context.Context, tx *sql.Tx, p *kvcap.Put, now time.Time) (existing, error) {
	found, err := s.look(ctx, tx, p.Key, now)
	if err != nil {
		return found, err
	}
	if !p.Allows(found.entry.Version) {
		return found, kvcap.ErrConflict
	}
	if s.quota.Check(found.usage, found.after(p)) == nil {
		return found, nil
	}
	if err := s.expire(ctx, tx, now, -1); err != nil {
		return found, err
	}
	if found, err = s.look(ctx, tx, p.Key, now); err != nil {
		return found, err
	}
	return found, s.quota.Check(found.usage, found.after(p))
}

// An existing is the state of the namespace before a change.
type existing struct {
	entry  abi.KVEntry // of version 0 when there is none
	taken  int64       // bytes of key and value, also when expired; 0 when there are none
	usage  kvcap.Usage // including expired values that are not removed yet
	newest uint64      // version
}

// after returns the usage after a put.
func (f *existing) after(p *kvcap.Put) kvcap.Usage {
	u := kvcap.Usage{Keys: f.usage.Keys, Bytes: f.usage.Bytes - f.taken + int64(len(p.Key)+len(p.Value))}
	if f.taken == 0 {
		u.Keys++
	}
	return u
}

func (s *Store) look(ctx context.Context, tx *sql.Tx, key string, now time.Time) (f existing, err error) {
	e := abi.KVEntry{Key: key}
	err = tx.StmtContext(ctx, s.lookStmt).QueryRowContext(ctx, key).
		Scan(&f.usage.Keys, &f.usage.Bytes, &f.newest, &e.Version, &e.ExpiresMillis, &e.Size)
	if err != nil || e.Version == 0 {
		return f, err
	}
	f.taken = int64(len(key)) + int64(e.Size)
	if !hasExpired(e.ExpiresMillis, now) {
		f.entry = e
	}
	return f, nil
}

// Delete implements [kvcap.Store].
func (s *Store) Delete(ctx context.Context, key string, ifVersion uint64) (entry abi.KVEntry, err error) {
	err = s.transact(ctx, func(tx *sql.Tx) error {
		now := s.now()
		if err := s.expire(ctx, tx, now, maxExpired); err != nil {
			return err
		}
		found, err := s.look(ctx, tx, key, now)
		if err != nil {
			return err
		}
		if entry = found.entry; ifVersion != 0 && ifVersion != entry.Version {
			return kvcap.ErrConflict
		}
		_, err = tx.StmtContext(ctx, s.deleteStmt).ExecContext(ctx, key)
		return err
	})
	if !errors.Is(err, kvcap.ErrConflict) {
		entry = abi.KVEntry{}
	}
	return entry, s.public(err)
}

// List implements [kvcap.Store].
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]abi.KVEntry, bool, error) {
	var entries []abi.KVEntry
	var more bool
	err := s.retryLocked(ctx, func() error {
		entries, more = nil, false
		rows, err := s.listStmt.QueryContext(ctx, max(prefix, after), s.now().UnixMilli(), limit+2) // after, and one more
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var e abi.KVEntry
			if err := rows.Scan(&e.Key, &e.Version, &e.ExpiresMillis, &e.Size); err != nil {
				return err
			}
			if e.Key == after {
				continue
			}
			if !strings.HasPrefix(e.Key, prefix) {
				break
			}
			if more = len(entries) == limit; more {
				break
			}
			entries = append(entries, e)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, false, s.public(err)
	}
	return entries, more, nil
}

// Usage implements [kvcap.Store].
func (s *Store) Usage(ctx context.Context) (u kvcap.Usage, err error) {
	err = s.retryLocked(ctx, func() error {
		return s.usageStmt.QueryRowContext(ctx, s.now().UnixMilli()).Scan(&u.Keys, &u.Bytes)
	})
	return u, s.public(err)
}

// Close implements [kvcap.Store].
func (s *Store) Close() error {
	s.closed.Store(true)
	return s.db.Close()
}

// expire removes expired values: at most n, or all when n is negative.
func (s *Store) expire(ctx context.Context, tx *sql.Tx, now time.Time, n int) error {
	_, err := tx.StmtContext(ctx, s.expireStmt).ExecContext(ctx, now.UnixMilli(), n)
	return err
}

// hasExpired reports whether the time expires, in milliseconds and 0 for never, has come.
func hasExpired(expires int64, now time.Time) bool { return expires > 0 && expires <= now.UnixMilli() }

// transact runs do in a transaction that may write. After an error nothing has changed.
func (s *Store) transact(ctx context.Context, do func(tx *sql.Tx) error) error {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.retryLocked(ctx, func() error {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := do(tx); err != nil {
			return errors.Join(err, ignoreDone(tx.Rollback()))
		}
		return tx.Commit()
	})
}

// ignoreDone discards the error of a transaction that ended with its context.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
