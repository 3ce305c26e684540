package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"

	"github.com/wasmres/wasmres/abi"
)

// errStale marks an error that new files of the database may cause, to which the process has no access.
var errStale = errors.New("the database may have new files")

// isStale reports whether files made after the process was confined may cause a result code. The process cannot open
// them, so the database looks damaged, or abandoned by a program that crashed.
func isStale(rc int32) bool {
	switch rc & 0xff {
	case engine.SQLITE_CANTOPEN, engine.SQLITE_IOERR, engine.SQLITE_PERM, engine.SQLITE_PROTOCOL, engine.SQLITE_CORRUPT, engine.SQLITE_NOTADB:
		return true
	}
	return rc == engine.SQLITE_READONLY_ROLLBACK || rc == engine.SQLITE_READONLY_RECOVERY || rc == engine.SQLITE_READONLY_CANTINIT
}

// errOpen is the error for a database file that cannot be opened.
func errOpen(cause error) error {
	return abi.Errorf(abi.CodeUnavailable, "the database cannot be opened").Because(cause)
}

// failed returns the public error, by the result code of the engine. Its message may name paths and is only in the
// cause.
func (s *session) failed(rc int32) error {
	cause := fmt.Errorf("sqlite: %s (%d)", libc.GoString(engine.Xsqlite3_errmsg(s.tls, s.db)), rc)
	if isStale(rc) {
		cause = fmt.Errorf("%w: %w", errStale, cause)
	}
	switch rc {
	case engine.SQLITE_READONLY_ROLLBACK, engine.SQLITE_READONLY_RECOVERY, engine.SQLITE_READONLY_CANTINIT:
		return abi.Errorf(abi.CodeUnavailable, "the database must be recovered by a program that writes it").Because(cause)
	}
	switch rc & 0xff {
	case engine.SQLITE_INTERRUPT:
		if s.overMemory {
			return abi.Errorf(abi.CodeTooLarge, "the statement uses too much memory").Because(cause)
		}
		return abi.Errorf(abi.CodeDeadline, "the statement took too long").Because(cause)
	case engine.SQLITE_AUTH, engine.SQLITE_READONLY:
		return abi.Errorf(abi.CodeDenied, "the statement does more than read").Because(cause)
	case engine.SQLITE_ERROR, engine.SQLITE_RANGE, engine.SQLITE_MISMATCH:
		return abi.Errorf(abi.CodeInvalidParams, "the database does not accept the statement").Because(cause)
	case engine.SQLITE_TOOBIG, engine.SQLITE_NOMEM, engine.SQLITE_FULL:
		return abi.Errorf(abi.CodeTooLarge, "the statement uses or returns too much").Because(cause)
	case engine.SQLITE_BUSY, engine.SQLITE_LOCKED, engine.SQLITE_CANTOPEN, engine.SQLITE_PROTOCOL, engine.SQLITE_SCHEMA:
		return abi.Errorf(abi.CodeUnavailable, "the database is busy or cannot be opened").Because(cause)
	}
	return abi.Errorf(abi.CodeInternal, "the database failed").Because(cause)
}
