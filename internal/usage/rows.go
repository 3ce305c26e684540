package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// keepTime is how long rows are kept: thirteen months. See removeOld.
const keepTime = 400 * 24 * time.Hour

// maxGap is how much rows age by a time without rows.
const maxGap = 7 * 24 * time.Hour

// application is SQLite's application_id of the file: "wrus".
const application = 0x77727573

const schema = `
CREATE TABLE usage (
	hour INTEGER NOT NULL, tenant TEXT NOT NULL, provider TEXT NOT NULL, version INTEGER NOT NULL,
	ok INTEGER NOT NULL, refused INTEGER NOT NULL, limited INTEGER NOT NULL, failed INTEGER NOT NULL,
	fuel INTEGER NOT NULL, cpu INTEGER NOT NULL, starts INTEGER NOT NULL, bytes INTEGER NOT NULL, memory INTEGER NOT NULL,
	live INTEGER NOT NULL DEFAULT 0, peak INTEGER NOT NULL DEFAULT 0,
	modules INTEGER NOT NULL DEFAULT 0, kv INTEGER NOT NULL DEFAULT 0, files INTEGER NOT NULL DEFAULT 0, logs INTEGER NOT NULL DEFAULT 0,
	stored INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (hour, tenant, provider, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE flush (seq INTEGER NOT NULL) STRICT;
INSERT INTO flush VALUES (0);
PRAGMA user_version = 2;`

// fromFirst makes the tables of version 1 those of version 2.
const fromFirst = `
ALTER TABLE usage ADD COLUMN live INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN peak INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN modules INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN kv INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN files INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN logs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 2;`

// present is the version of the tables.
const present = 2

// openFile opens the file to write, and makes it if there is none. It returns the number of the newest flush.
func openFile(ctx context.Context, file string) (_ *sql.DB, seq uint64, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, 0, err
	}
	if err := f.Close(); err != nil {
		return nil, 0, err
	}
	db, err := sql.Open("sqlite", source(file, "_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=journal_size_limit(4194304)&_txlock=immediate"))
	if err != nil {
		return nil, 0, err
	}
	db.SetMaxOpenConns(1)
	if err := prepare(ctx, db); err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	if seq, err = readSeq(ctx, db); err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	return db, seq, nil
}

func source(file, options string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(file)}
	return u.String() + "?_pragma=busy_timeout(5000)&_pragma=trusted_schema(off)&_pragma=cell_size_check(on)&" + options
}

// prepare makes the tables of a new file, and refuses one of another program.
func prepare(ctx context.Context, db *sql.DB) error {
	version, err := versionOf(ctx, db)
	if err != nil || version == present {
		return err
	}
	change := fmt.Sprintf("PRAGMA application_id = %d;", application) + schema
	if version == 1 {
		change = fromFirst
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, change); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// versionOf gives the version of the tables; 0 for an empty file.
func versionOf(ctx context.Context, db *sql.DB) (int, error) {
	var id, version, objects int
	err := db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &objects)
	switch {
	case err != nil:
		return 0, err
	case id == 0 && objects == 0:
		return 0, nil
	case id != application:
		return 0, errors.New("the file does not have the usage of a server: move it away")
	case version < 1 || version > present:
		return 0, fmt.Errorf("a newer wasmres has written it: its tables have version %d, this wasmres knows version %d", version, present)
	}
	return version, nil
}

func readSeq(ctx context.Context, db *sql.DB) (seq uint64, err error) {
	var n int64
	err = db.QueryRowContext(ctx, `SELECT seq FROM flush`).Scan(&n)
	return uint64(n), err
}

// writeRows adds rows to those on disk, as the flush after seq, or does nothing.
func writeRows(ctx context.Context, db *sql.DB, rows map[hourKey]*Totals, seq uint64) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, rollback(tx))
		}
	}()
	add, err := tx.PrepareContext(ctx, `INSERT INTO usage (hour, tenant, provider, version, ok, refused, limited, failed, fuel, cpu, starts, bytes, memory,
		live, peak, modules, kv, files, logs, stored) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET ok = ok + excluded.ok, refused = refused + excluded.refused, limited = limited + excluded.limited,
		failed = failed + excluded.failed, fuel = fuel + excluded.fuel, cpu = cpu + excluded.cpu, starts = starts + excluded.starts,
		bytes = bytes + excluded.bytes, memory = memory + excluded.memory, live = live + excluded.live, peak = max(peak, excluded.peak),
		modules = max(modules, excluded.modules), kv = max(kv, excluded.kv), files = max(files, excluded.files),
		logs = max(logs, excluded.logs), stored = stored + excluded.stored`)
	if err != nil {
		return err
	}
	defer add.Close()
	for k, t := range rows {
		_, err := add.ExecContext(ctx, k.hour, k.Tenant, k.Provider, k.Version,
			int64(t.Requests[OK]), int64(t.Requests[Refused]), int64(t.Requests[Limited]), int64(t.Requests[Failed]),
			int64(t.Fuel), int64(t.CPU), int64(t.Starts), int64(t.Bytes), int64(t.Memory),
			int64(t.Live), int64(t.Peak), int64(t.Stored.Modules), int64(t.Stored.KV), int64(t.Stored.Files), int64(t.Stored.Logs), int64(t.StoredTime))
		if err != nil {
			return err
		}
	}
	changed, err := tx.ExecContext(ctx, `UPDATE flush SET seq = ? WHERE seq = ?`, int64(seq)+1, int64(seq))
	if err != nil {
		return err
	}
	if n, err := changed.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errors.New("another program has changed the file: restart the server"), err)
	}
	return tx.Commit()
}

func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

// removeOld removes the rows that are older than keepTime. The clock may be wrong by years, and may have been when rows were written: so
// rows age by the time between the hours that have rows, of which each counts for maxGap at most.
func removeOld(ctx context.Context, db *sql.DB, now time.Time) error {
	hours, err := hoursUntil(ctx, db, now)
	if err != nil {
		return err
	}
	age, later := time.Duration(0), now
	for _, hour := range hours {
		if age += min(later.Sub(hour), maxGap); age > keepTime {
			_, err := db.ExecContext(ctx, `DELETE FROM usage WHERE hour <= ?`, hour.Unix())
			return err
		}
		later = hour
	}
	return nil
}

// hoursUntil returns the hours that have rows, the newest first.
func hoursUntil(ctx context.Context, db *sql.DB, now time.Time) (hours []time.Time, err error) {
	rows, err := db.QueryContext(ctx, `WITH RECURSIVE hours(hour) AS (
		SELECT max(hour) FROM usage WHERE hour <= ?
		UNION ALL SELECT (SELECT max(usage.hour) FROM usage WHERE usage.hour < hours.hour) FROM hours WHERE hours.hour IS NOT NULL
	) SELECT hour FROM hours WHERE hour IS NOT NULL`, now.Unix())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var hour int64
		if err := rows.Scan(&hour); err != nil {
			return nil, err
		}
		hours = append(hours, time.Unix(hour, 0))
	}
	return hours, rows.Err()
}
