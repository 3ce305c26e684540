package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// Bounds of the writes that are remembered.
const (
	onceFor       = 24 * time.Hour
	maxOnce       = 8192
	maxOnceCaller = 2048     // of them
	maxOnceAnswer = 16 << 10 // bytes
)

const (
	sqlOldOnce   = `DELETE FROM once WHERE began NOT BETWEEN ? AND ?`
	sqlFindOnce  = `SELECT answer FROM once WHERE id = ?`
	sqlCountOnce = `SELECT count(*), coalesce(sum(caller = ?), 0) FROM once`
	sqlAddOnce   = `INSERT INTO once (id, caller, began, answer) VALUES (?, ?, ?, NULL)`
	sqlKeepOnce  = `UPDATE once SET answer = ? WHERE id = ?`
	sqlForget    = `DELETE FROM once WHERE id = ?`
)

// BeginOnce notes, on disk, that a write of a caller begins. If it was noted within the last day, known is true, and answer is
// what EndOnce has kept; nil if that was not called.
func (s *Store) BeginOnce(ctx context.Context, id [32]byte, caller string) (answer []byte, known bool, err error) {
	if len(caller) > maxName {
		return nil, false, fmt.Errorf("%w: the name of the caller is too long", tenant.ErrInvalid)
	}
	full := error(nil)
	_, err = s.do(ctx, func() (uint64, error) {
		return 0, s.transact(func(tx *sql.Tx) error {
			answer, known, full = nil, false, nil
			var err error
			answer, known, err = s.beginOnce(tx, id, caller)
			if errors.Is(err, tenant.ErrTooMany) {
				full, err = err, nil
			}
			return err
		})
	})
	return answer, known, errors.Join(err, full)
}

func (s *Store) beginOnce(tx *sql.Tx, id [32]byte, caller string) (answer []byte, known bool, err error) {
	now := s.now()
	if _, err := tx.Exec(sqlOldOnce, now.Add(-onceFor).UnixMilli(), now.Add(onceFor).UnixMilli()); err != nil {
		return nil, false, err
	}
	err = tx.QueryRow(sqlFindOnce, id[:]).Scan(&answer)
	if err == nil {
		return answer, true, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, false, err
	}
	var all, own int
	if err := tx.QueryRow(sqlCountOnce, caller).Scan(&all, &own); err != nil {
		return nil, false, err
	}
	if all >= maxOnce || own >= maxOnceCaller {
		return nil, false, fmt.Errorf("%w requests of this day with an Idempotency-Key, %d of yours: leave it out, or wait", tenant.ErrTooMany, own)
	}
	_, err = tx.Exec(sqlAddOnce, id[:], caller, now.UnixMilli())
	return nil, false, err
}

// EndOnce keeps the answer to a write that BeginOnce has noted, or forgets it, for a nil answer.
func (s *Store) EndOnce(ctx context.Context, id [32]byte, answer []byte) error {
	if len(answer) > maxOnceAnswer {
		return fmt.Errorf("%w: the answer has %d bytes, at most %d are allowed", tenant.ErrInvalid, len(answer), maxOnceAnswer)
	}
	_, err := s.do(ctx, func() (uint64, error) {
		return 0, s.transact(func(tx *sql.Tx) error {
			if answer == nil {
				_, err := tx.Exec(sqlForget, id[:])
				return err
			}
			_, err := tx.Exec(sqlKeepOnce, answer, id[:])
			return err
		})
	})
	return err
}
