// Package database is what a database must do for the power to query it.
//
// It owns the interface of a session. The packages beside it implement it, each for one kind of server.
package database

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// Limits are those a session holds its server to.
type Limits struct {
	Cell    int // bytes of one value
	Columns int
	Query   int // bytes of a statement
	Args    int
}

// A Config says how to open sessions.
type Config struct {
	Limits     Limits
	Privileged bool         // accept a role that could do more than read
	Logger     *slog.Logger // for what an operator should know of a role; never nil
}

// WarnOfRole tells the operator that a role is held back by transactions alone.
func (c *Config) WarnOfRole() {
	c.Logger.Warn("the role may do more than read: only read-only transactions hold it back; grant SELECT alone")
}

// A Statement is one that a guest wants to run.
type Statement struct {
	Query   string
	Args    []abi.SQLValue
	Rows    uint64        // how many of its rows are wanted at most; 0 for all
	Timeout time.Duration // after which the server ends it by itself; positive
}

// A Session is one connection. It runs one statement at a time, in a transaction that can only read, and belongs to one
// goroutine at a time. Errors are classified by [abi.CodeOf].
type Session interface {
	// Query begins a statement and describes its columns. When ctx ends, the statement is ended on the server too. After
	// an error only Close may follow, or Reset, which then says whether the session is still of use.
	Query(ctx context.Context, s *Statement) ([]abi.SQLColumn, error)
	// Next fills row, which has a value for each column. Its bytes are valid until the next call. The end is [io.EOF].
	Next(row []abi.SQLValue) error
	// Reset ends the statement, wherever it is, and leaves nothing of it behind. After an error the session must be
	// closed.
	Reset(ctx context.Context) error
	// Close ends the session.
	Close() error
}

// A Driver opens sessions with one database. It is safe for concurrent use.
type Driver interface {
	Connect(ctx context.Context) (Session, error)
}

// ErrLost says that the session has ended without having done anything of the statement that lasts: it may be run in
// another one.
var ErrLost = errors.New("the connection has been closed by the server")

// TooLarge is the error for a value of more bytes than the limit.
func TooLarge(column string, limit int) error {
	return abi.Errorf(abi.CodeTooLarge, "a value of column %.64q has more than %d bytes", column, limit)
}

// NoRows is the error for a statement that gives no rows, and so does something else than read.
func NoRows() error { return abi.Errorf(abi.CodeDenied, "only statements that give rows may be run") }
