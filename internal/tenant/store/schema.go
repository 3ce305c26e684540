package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

const application = 0x77727376 // "wrsv", which marks files of this package

// migrations has, for each version of the file, the statements that make it from the one before. Version 0 is an empty file.
// A migration is never changed once it was released.
//
// A tenant that was removed remains as a row without a body, so that its ID is not given to another owner. The sum of a row
// covers all of it but last_used; that of state is the exclusive or of them all and that of the generation.
var migrations = []string{`
CREATE TABLE state (
	id         INTEGER PRIMARY KEY CHECK (id = 1),
	generation INTEGER NOT NULL CHECK (generation >= 0),
	sum        BLOB NOT NULL
) STRICT;
INSERT INTO state VALUES (1, 0, zeroblob(32));

CREATE TABLE tenant (
	id    TEXT NOT NULL PRIMARY KEY,
	owner TEXT NOT NULL,
	gone  INTEGER NOT NULL, -- when it was removed, in milliseconds since 1970; 0 for a present one
	body  BLOB NOT NULL,    -- JSON; empty for a removed one
	sum   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE plan (
	id   TEXT NOT NULL PRIMARY KEY,
	body BLOB NOT NULL,
	sum  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE key (
	id        TEXT NOT NULL PRIMARY KEY,
	tenant    TEXT NOT NULL,
	body      BLOB NOT NULL,   -- without the text of the key
	sum       BLOB NOT NULL,
	last_used INTEGER NOT NULL -- in days since 1970; 0 for never
) STRICT, WITHOUT ROWID;
`, `
CREATE TABLE admin_key (
	id   TEXT NOT NULL PRIMARY KEY,
	body BLOB NOT NULL, -- without the text of the key
	sum  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE secret (
	id     TEXT NOT NULL PRIMARY KEY, -- TENANT/NAME
	tenant TEXT NOT NULL,
	body   BLOB NOT NULL,             -- with the sealed value
	sum    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE once ( -- writes that callers of the API may repeat; not in the sum of state
	id     BLOB NOT NULL PRIMARY KEY,
	caller TEXT NOT NULL,
	began  INTEGER NOT NULL, -- in milliseconds since 1970
	answer BLOB              -- sealed; NULL before it is known
) STRICT, WITHOUT ROWID;
`, `
CREATE TABLE version (
	id     TEXT NOT NULL PRIMARY KEY, -- TENANT/PROVIDER@NUMBER
	tenant TEXT NOT NULL,
	body   BLOB NOT NULL,
	sum    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE route (
	id     TEXT NOT NULL PRIMARY KEY, -- TENANT/PROVIDER
	tenant TEXT NOT NULL,
	body   BLOB NOT NULL,
	sum    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE number ( -- the highest that a version of a provider ever had
	id     TEXT NOT NULL PRIMARY KEY, -- TENANT/PROVIDER
	tenant TEXT NOT NULL,
	body   BLOB NOT NULL,
	sum    BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`}

// migrate brings the tables to the version of this program, in one transaction for each version. It calls backup before it
// changes a file that is in use.
func migrate(ctx context.Context, db *sql.DB, steps []string, backup func(version int) error) error {
	version, err := versionOf(ctx, db)
	switch {
	case err != nil:
		return err
	case version > len(steps):
		return &newerError{has: version, knows: len(steps)}
	case version > 0 && version < len(steps):
		if err := backup(version); err != nil {
			return fmt.Errorf("copy the file before its tables are changed: %w", err)
		}
	}
	for ; version < len(steps); version++ {
		if err := step(ctx, db, version+1, steps[version]); err != nil {
			return fmt.Errorf("bring the tables to version %d: %w", version+1, err)
		}
	}
	return nil
}

// step runs one migration.
func step(ctx context.Context, db *sql.DB, version int, statements string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	header := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", application, version)
	if _, err := tx.ExecContext(ctx, header+statements); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// versionOf gives the version of the tables of a file; 0 for an empty file.
func versionOf(ctx context.Context, db *sql.DB) (int, error) {
	var id, version, objects int
	err := db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &objects)
	switch {
	case err != nil:
		return 0, err
	case id == 0 && version == 0 && objects == 0:
		return 0, nil
	case id != application || version < 1:
		return 0, errors.New("the file is not one of wasmres serve: move it away, or choose another folder")
	}
	return version, nil
}

// A newerError is of a file that a later version of this program has written.
type newerError struct{ has, knows int }

func (e *newerError) Error() string {
	return fmt.Sprintf("a newer wasmres has written it: its tables have version %d, this wasmres knows version %d", e.has, e.knows)
}
