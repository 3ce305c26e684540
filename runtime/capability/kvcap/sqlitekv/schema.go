package sqlitekv

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

const (
	application = 0x77726b76 // "wrkv", which marks files of this package
	schema      = 1          // the version of the tables below
)

// tables makes the tables of a new file. state has one row; triggers keep its counts. value is the last column, so that
// SQLite can read the others without it.
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

	// sqlExpire removes some expired entries.
	sqlExpire = `DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE expires > 0 AND expires <= ? LIMIT ?)`

	sqlUsage = `SELECT s.keys - count(e.id), s.bytes - coalesce(sum(length(CAST(e.key AS BLOB)) + length(e.value)), 0)
		FROM state s LEFT JOIN entry e ON e.expires > 0 AND e.expires <= ?`
)

// prepareTables makes the tables of a new file, or checks that an existing file is a store of this namespace.
func prepareTables(ctx context.Context, tx *sql.Tx, n kvcap.Namespace) error {
	var id, version, objects int64
	err := tx.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &objects)
	switch {
	case err != nil:
		return err
	case id == 0 && version == 0 && objects == 0:
		return create(ctx, tx, n)
	case id != application:
		return errors.New("the file is not a key-value store of wasmres: move it away")
	case version != schema:
		return fmt.Errorf("the file has version %d, this wasmres knows version %d: use the newer wasmres", version, schema)
	}
	var found kvcap.Namespace
	err = tx.QueryRowContext(ctx, `SELECT tenant, provider FROM state`).Scan(&found.Tenant, &found.Provider)
	if err == nil && found != n {
		return fmt.Errorf("the file belongs to tenant %q, provider %q: move it away", found.Tenant, found.Provider)
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
