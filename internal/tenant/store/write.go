package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/wasmres/wasmres/internal/faultpoint"
	"github.com/wasmres/wasmres/internal/tenant"
)

const (
	firstMaintenance = time.Minute // after the opening
	maintenance      = time.Hour
)

// A request is what the writer is to do.
type request struct {
	do     func() (generation uint64, err error)
	result chan<- result
}

type result struct {
	generation uint64
	err        error
}

// do has the writer run a function. ctx bounds the wait for it to begin.
func (s *Store) do(ctx context.Context, do func() (uint64, error)) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	answer := make(chan result, 1)
	select {
	case s.requests <- request{do, answer}:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-s.closing:
		return 0, tenant.ErrClosed
	}
	r := <-answer
	return r.generation, r.err
}

// write is the goroutine that writes, until the Store is closed.
func (s *Store) write() {
	defer close(s.done)
	timer := time.NewTimer(firstMaintenance)
	defer timer.Stop()
	for {
		select {
		case <-s.closing:
			return
		case r := <-s.requests:
			generation, err := r.do()
			r.result <- result{generation, err}
		case <-timer.C:
			s.maintain()
			timer.Reset(maintenance)
		}
	}
}

// maintain forgets tenants that have been gone for long enough, and copies the file when a copy is due.
func (s *Store) maintain() {
	if _, err := s.apply(context.Background(), &prepared{Change: tenant.Change{Actor: "maintenance"}}); err != nil {
		s.logger.Error("removed tenants not forgotten", "file", s.file, "err", err)
	}
	generation := s.state.snapshot.Generation
	if generation == s.copied || !s.isBackupDue() {
		return
	}
	if err := s.backup(context.Background(), s.version); err != nil {
		s.logger.Error("store not copied", "file", s.file, "dir", s.backupDir(), "err", withAdvice(err))
		return
	}
	s.copied = generation
}

// apply makes a change, and writes it, or neither. What it does is recorded between the writing and the commit: so a record of
// a change that did not happen is possible, and a change without its record is not.
func (s *Store) apply(ctx context.Context, p *prepared) (uint64, error) {
	present := s.state.snapshot.Generation
	if p.Base != 0 && p.Base != present {
		return 0, fmt.Errorf("%w: it is at generation %d, the change was made for %d", tenant.ErrConflict, present, p.Base)
	}
	d := newDraft(s.state, s.now())
	if err := d.apply(p); err != nil {
		return 0, err
	}
	if !d.hasEffect() {
		return present, nil
	}
	d.next.snapshot.Generation, d.next.snapshot.Changed = present+1, d.changed(present)
	before, isRecorded, began := s.state.snapshot, false, time.Now()
	err := s.transact(func(tx *sql.Tx) error {
		err := s.statements.write(tx, d, present)
		faultpoint.Reach("change written")
		if err != nil || s.recorder == nil {
			return err
		}
		err = s.recorder.Record(ctx, &p.Change, before, d.next.snapshot)
		isRecorded = err == nil
		faultpoint.Reach("change recorded")
		return err
	})
	if err != nil && isRecorded {
		s.recorder.Undo(before, err)
	}
	if err != nil {
		return 0, err
	}
	faultpoint.Reach("change committed")
	s.committed(time.Since(began))
	s.publish(&d.next)
	s.logger.Debug("configuration stored", "generation", present+1, "actor", p.Actor, "tenants", len(d.next.snapshot.Tenants),
		"set", len(d.put), "removed", len(d.drop))
	return present + 1, nil
}

// setLastUsed writes the days on which keys were used.
func (s *Store) setLastUsed(days map[string]time.Time) error {
	all := s.state.snapshot.Keys
	maps.DeleteFunc(days, func(id string, day time.Time) bool {
		return all[id] == nil || dayOf(day) <= dayOf(all[id].LastUsed)
	})
	if len(days) == 0 {
		return nil
	}
	err := s.transact(func(tx *sql.Tx) error {
		for id, day := range days {
			if _, err := tx.Stmt(s.statements.use).Exec(dayOf(day), id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	snapshot := *s.state.snapshot
	snapshot.Keys = maps.Clone(all)
	for id, day := range days {
		snapshot.Keys[id] = withLastUsed(all[id], timeOf(dayOf(day)))
	}
	next := *s.state
	next.snapshot = &snapshot
	s.publish(&next)
	return nil
}

// transact runs a transaction. After an error nothing of it is in force.
func (s *Store) transact(do func(tx *sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err == nil {
		if err = do(tx); err == nil {
			err = tx.Commit()
		} else {
			err = errors.Join(err, tx.Rollback())
		}
	}
	if err == nil {
		return nil
	}
	_, _ = s.db.Exec(`ROLLBACK`) // a commit that failed may leave the transaction open; else this fails
	return fmt.Errorf("%w to %s: %w", tenant.ErrUnavailable, s.file, withAdvice(err))
}

// statements are prepared SQL.
type statements struct {
	put, drop map[kind]*sql.Stmt
	advance   *sql.Stmt
	use       *sql.Stmt
}

const (
	sqlPutTenant = `INSERT INTO tenant (id, owner, gone, body, sum) VALUES (?, ?, ?, ?, ?)`
	sqlPutPlan   = `INSERT INTO plan (id, body, sum) VALUES (?, ?, ?)`
	sqlPutKey    = `INSERT INTO key (id, tenant, body, sum, last_used) VALUES (?, ?, ?, ?, ?)`

	sqlPutAdminKey = `INSERT INTO admin_key (id, body, sum) VALUES (?, ?, ?)`
	sqlPutSecret   = `INSERT INTO secret (id, tenant, body, sum) VALUES (?, ?, ?, ?)`
	sqlPutVersion  = `INSERT INTO version (id, tenant, body, sum) VALUES (?, ?, ?, ?)`
	sqlPutRoute    = `INSERT INTO route (id, tenant, body, sum) VALUES (?, ?, ?, ?)`
	sqlPutNumber   = `INSERT INTO number (id, tenant, body, sum) VALUES (?, ?, ?, ?)`

	sqlAdvance = `UPDATE state SET generation = ?, sum = ? WHERE generation = ? AND sum = ?`
	sqlUse     = `UPDATE key SET last_used = ? WHERE id = ?`
)

func (p *statements) prepare(ctx context.Context, db *sql.DB) (err error) {
	p.put, p.drop = map[kind]*sql.Stmt{}, map[kind]*sql.Stmt{}
	for k, text := range map[kind]string{
		tenants: sqlPutTenant, plans: sqlPutPlan, keys: sqlPutKey, adminKeys: sqlPutAdminKey, secrets: sqlPutSecret,
		versions: sqlPutVersion, routes: sqlPutRoute, numbers: sqlPutNumber,
	} {
		if p.put[k], err = db.PrepareContext(ctx, text); err != nil {
			return err
		}
		if p.drop[k], err = db.PrepareContext(ctx, `DELETE FROM `+string(k)+` WHERE id = ? RETURNING sum`); err != nil {
			return err
		}
	}
	if p.advance, err = db.PrepareContext(ctx, sqlAdvance); err != nil {
		return err
	}
	p.use, err = db.PrepareContext(ctx, sqlUse)
	return err
}

// write writes the rows of a draft, and sets its sum.
func (p *statements) write(tx *sql.Tx, d *draft, from uint64) error {
	before := d.next.sum.at(from)
	for i := range d.drop {
		if err := p.remove(tx, d, &d.drop[i]); err != nil {
			return err
		}
	}
	for i := range d.put {
		if err := p.replace(tx, d, &d.put[i]); err != nil {
			return err
		}
	}
	after := d.next.sum.at(from + 1)
	changed, err := tx.Stmt(p.advance).Exec(int64(from)+1, after[:], int64(from), before[:])
	if err != nil {
		return err
	}
	if n, err := changed.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errors.New("another program has changed the file: restart the server"), err)
	}
	return nil
}

// remove removes a row, if there is one.
func (p *statements) remove(tx *sql.Tx, d *draft, r *row) error {
	var was []byte
	err := tx.Stmt(p.drop[r.kind]).QueryRow(r.id).Scan(&was)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(was) != len(d.next.sum) {
		return damaged("the sum of %s %q has %d bytes", r.kind, r.id, len(was))
	}
	d.next.sum.toggle(sum(was))
	return nil
}

// replace puts a row in the place of one with the same id, if there is one.
func (p *statements) replace(tx *sql.Tx, d *draft, r *row) error {
	if err := p.remove(tx, d, r); err != nil {
		return err
	}
	sum := r.sum()
	d.next.sum.toggle(sum)
	args := []any{r.id, r.body, sum[:]}
	switch r.kind {
	case tenants:
		args = []any{r.id, r.of, r.gone, r.body, sum[:]}
	case secrets, versions, routes, numbers:
		args = []any{r.id, r.of, r.body, sum[:]}
	case keys:
		args = []any{r.id, r.of, r.body, sum[:], r.lastUsed}
	}
	_, err := tx.Stmt(p.put[r.kind]).Exec(args...)
	return err
}
