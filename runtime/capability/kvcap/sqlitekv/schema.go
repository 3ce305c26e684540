package sqlitekv

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

const (
	application = 0x77726b76 // "wrkv", which marks our files
	schema      = 1          // the version of the tables below
)

// tables are those of a new file. The triggers count what there is, whoever changes it; state has one row. The value
// stands last, so that what describes it is read without it.
const tables = `
CREATE TABLE state (
	id       INTEGER PRIMARY KEY CHECK (id = 1),
	tenant   TEXT NOT NULL,
	provider TEXT NOT NULL,
	keys     INTEGER NOT NULL, -- how many entries
	bytes    INTEGER NOT NULL, -- of their keys and values
	version  INTEGER NOT NULL  -- the newest one ever given
) STRICT;

CREATE TABLE entry (
	id      INTEGER PRIMARY KEY,
	key     TEXT NOT NULL UNIQUE,
	version INTEGER NOT NULL,
	expires INTEGER NOT NULL, -- milliseconds since 1970; 0 for never
	value   BLOB NOT NULL
) STRICT;

CREATE INDEX entry_expires ON entry (expires) WHERE expires > 0;

CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
	UPDATE state SET keys = keys + 1, version = max(version, new.version),
		bytes = bytes + length(CAST(new.key AS BLOB)) + length(new.value);
END;

CREATE TRIGGER entry_updated AFTER UPDATE ON entry BEGIN
	UPDATE state SET version = max(version, new.version), bytes = bytes
		+ length(CAST(new.key AS BLOB)) + length(new.value) - length(CAST(old.key AS BLOB)) - length(old.value);
END;

CREATE TRIGGER entry_deleted AFTER DELETE ON entry BEGIN
	UPDATE state SET keys = keys - 1, bytes = bytes - length(CAST(old.key AS BLOB)) - length(old.value);
END;
`

const (
	sqlGet = `SELECT version, expires, value FROM entry WHERE key = ?`

	sqlLook = `SELECT s.keys, s.bytes, s.version,
		coalesce(e.version, 0), coalesce(e.expires, 0), coalesce(length(e.value), 0)
		FROM state s LEFT JOIN entry e ON e.key = ?`

	sqlPut = `INSERT INTO entry (key, version, expires, value) VALUES (?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET version = excluded.version, expires = excluded.expires, value = excluded.value`

	sqlDelete = `DELETE FROM entry WHERE key = ?`

	sqlList = `SELECT key, version, expires, length(value) FROM entry
		WHERE key >= ? AND (expires = 0 OR expires > ?) ORDER BY key LIMIT ?`

	// sqlExpire removes some of what has expired.
	sqlExpire = `DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE expires > 0 AND expires <= ? LIMIT ?)`

	sqlUsage = `SELECT s.keys - count(e.id), s.bytes - coalesce(sum(length(CAST(e.key AS BLOB)) + length(e.value)), 0)
		FROM state s LEFT JOIN entry e ON e.expires > 0 AND e.expires <= ?`
)

// prepare makes the tables of a new file, or looks whether an existing one is ours and of this namespace.
func prepare(ctx context.Context, tx *sql.Tx, n kvcap.Namespace) error {
	var id, version, objects int64
	err := tx.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &objects)
	switch {
	case err != nil:
		return err
	case id == 0 && version == 0 && objects == 0:
		return create(ctx, tx, n)
	case id != application:
		return errors.New("it is no key-value store of wasmres: move it away")
	case version != schema:
		return fmt.Errorf("its tables are of version %d, this wasmres knows %d: use the newer wasmres", version, schema)
	}
	var found kvcap.Namespace
	err = tx.QueryRowContext(ctx, `SELECT tenant, provider FROM state`).Scan(&found.Tenant, &found.Provider)
	if err == nil && found != n {
		return fmt.Errorf("it belongs to tenant %q, provider %q: move it away", found.Tenant, found.Provider)
	}
	return err
}

func create(ctx context.Context, tx *sql.Tx, n kvcap.Namespace) error {
	header := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", application, schema)
	if _, err := tx.ExecContext(ctx, header+tables); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO state VALUES (1, ?, ?, 0, 0, 0)`, n.Tenant, n.Provider)
	return err
}
