package postgres

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/wasmres/wasmres/abi"
)

// failed returns the public error, by the SQLSTATE. The message of the server is only in the cause.
func failed(err error) error {
	var large *pgproto3.ExceededMaxBodyLenErr
	if errors.As(err, &large) {
		return abi.Errorf(abi.CodeTooLarge, "a row of more than %d bytes", maxMessage).Because(err)
	}
	var state *pgconn.PgError
	if !errors.As(err, &state) {
		return abi.Errorf(abi.CodeUnavailable, "the connection to the database is lost").Because(err)
	}
	code, message := classify(state.Code)
	return abi.Errorf(code, "%s", message).Because(err)
}

func classify(state string) (abi.Code, string) {
	switch state {
	case "57014":
		return abi.CodeDeadline, "the statement took too long"
	case "42501", "25006", "2D000":
		return abi.CodeDenied, "the statement does more than the role, or a read-only transaction, may do"
	case "55P03":
		return abi.CodeUnavailable, "the statement waits for a lock of a writer"
	}
	switch {
	case hasClass(state, "0A 21 22 23 25 26 2F 38 39 3F 42 44 P0"):
		return abi.CodeInvalidParams, "the database does not accept the statement or its values"
	case hasClass(state, "54"):
		return abi.CodeTooLarge, "the statement uses or returns too much"
	case hasClass(state, "08 28 3D 40 53 57 58"):
		return abi.CodeUnavailable, "the database is busy or cannot be reached"
	}
	return abi.CodeInternal, "the database failed"
}

// hasClass reports whether a SQLSTATE is of one of the classes.
func hasClass(state, classes string) bool {
	return len(state) == 5 && strings.Contains(" "+classes+" ", " "+state[:2]+" ")
}
