package sqlite

import (
	"fmt"

	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"

	"github.com/wasmres/wasmres/abi"
)

// failed classifies a result code of the engine. What the engine says of it may name paths and stays private.
func (s *session) failed(rc int32) error {
	if s.ctx != nil && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	cause := fmt.Errorf("sqlite: %s (%d)", libc.GoString(engine.Xsqlite3_errmsg(s.tls, s.db)), rc)
	switch rc & 0xff {
	case engine.SQLITE_INTERRUPT:
		if s.greedy {
			return abi.Errorf(abi.CodeTooLarge, "the statement takes too much memory").Because(cause)
		}
		return abi.Errorf(abi.CodeDeadline, "the statement took too long").Because(cause)
	case engine.SQLITE_AUTH, engine.SQLITE_READONLY:
		return abi.Errorf(abi.CodeDenied, "the statement does more than read").Because(cause)
	case engine.SQLITE_ERROR, engine.SQLITE_RANGE, engine.SQLITE_MISMATCH:
		return abi.Errorf(abi.CodeInvalidParams, "the database does not accept the statement").Because(cause)
	case engine.SQLITE_TOOBIG, engine.SQLITE_NOMEM, engine.SQLITE_FULL:
		return abi.Errorf(abi.CodeTooLarge, "the statement takes or gives too much").Because(cause)
	case engine.SQLITE_BUSY, engine.SQLITE_LOCKED, engine.SQLITE_CANTOPEN, engine.SQLITE_PROTOCOL, engine.SQLITE_SCHEMA:
		return abi.Errorf(abi.CodeUnavailable, "the database is busy or cannot be opened").Because(cause)
	}
	return abi.Errorf(abi.CodeInternal, "the database failed").Because(cause)
}
