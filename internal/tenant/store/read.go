package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/wasmres/wasmres/internal/tenant"
)

// Read reads what the store of a folder says, while another process has it open. It writes nothing. The Snapshot is nil if Open
// would bring the tables to a newer version first.
func Read(ctx context.Context, dir string) (*tenant.Snapshot, error) {
	file := filepath.Join(dir, "serve.db")
	s, err := read(ctx, file, len(migrations))
	if err != nil {
		return nil, fmt.Errorf("read store %s: %w", file, err)
	}
	return s, nil
}

func read(ctx context.Context, file string, version int) (_ *tenant.Snapshot, err error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	settings := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(2000)", "query_only(1)", "trusted_schema(off)", "cell_size_check(on)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(file), RawQuery: settings.Encode()}).String())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `BEGIN`); err != nil { // of the one connection, so that all is of one generation
		return nil, err
	}
	switch has, err := versionOf(ctx, db); {
	case err != nil:
		return nil, err
	case has > version:
		return nil, &newerError{has: has, knows: version}
	case has < version:
		return nil, nil
	}
	l, err := load(ctx, db)
	if err != nil {
		return nil, err
	}
	return l.snapshot, nil
}
