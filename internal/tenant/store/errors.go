package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A damageError says that the file is not as it was written.
type damageError struct{ what string }

func (e *damageError) Error() string { return e.what }

func damaged(format string, args ...any) error { return &damageError{fmt.Sprintf(format, args...)} }

// isDamage reports whether a file must be restored.
func isDamage(err error) bool {
	var own *damageError
	code := primary(err)
	return errors.As(err, &own) || code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// primary returns SQLite's primary result code; 0 for an error that is not SQLite's.
func primary(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// withAdvice puts what the operator can do before an error of SQLite.
func withAdvice(err error) error {
	switch primary(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the file cannot be written: the disk may be full: make room, and try again: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("the file cannot be opened or written: check its permissions: %w", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another program has the file locked: end it: %w", err)
	}
	return err
}

// explain adds to an error of opening which copy of the file could take its place.
func (s *Store) explain(err error) error {
	var newer *newerError
	switch {
	case errors.As(err, &newer):
		return fmt.Errorf("%w: run that one, or return to %s", err, s.restorable(newer.knows))
	case isDamage(err):
		return fmt.Errorf("the file is damaged: %w: return to %s", err, s.restorable(s.version))
	}
	return withAdvice(err)
}

// restorable names the newest copy whose tables have at most a version, and says how to return to it.
func (s *Store) restorable(version int) string {
	file, ok := s.newestBackup(version)
	if !ok {
		return fmt.Sprintf("a copy of your own, since %s has none that fits", s.backupDir())
	}
	return fmt.Sprintf("the copy %s: move %[2]s, %[2]s-wal and %[2]s-shm away, and copy it to %[2]s; changes after the copy are lost",
		file, s.file)
}
