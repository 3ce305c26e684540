// Package database has the interface between package sqlcap and the databases.
//
// It owns the interface of a session. Each package beside it implements it for one kind of database.
package database

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// Limits bound a session.
type Limits struct {
	Cell    int // bytes of one value
	Columns int
	Query   int // bytes of a statement
	Args    int
}

// Config is how to open sessions.
type Config struct {
	Limits     Limits
	Privileged bool         // accepts a role that may do more than read
	Logger     *slog.Logger // for warnings to the operator; never nil
	// Foreign says that the operator does not know the data source name. It must name one server by a host name or an address, a
	// user and a password, and no file of this machine.
	Foreign bool
	Private bool // whether a foreign name may lead to addresses that are not public
}

// WarnOfRole warns the operator that only transactions keep a role from writing.
func (c *Config) WarnOfRole() {
	c.Logger.Warn("the role of the connection may write; only read-only transactions prevent it: grant it SELECT alone")
}

// A Statement is a statement of a guest.
type Statement struct {
	Query   string
	Args    []abi.SQLValue
	Rows    uint64        // the most rows that the guest wants; 0 for all
	Timeout time.Duration // after which the server ends it; positive
}

// A Session is one connection. It runs one statement at a time, in a read-only transaction, and belongs to one goroutine at
// a time. [abi.CodeOf] gives the code of its errors.
type Session interface {
	// Query begins a statement and describes its columns. When ctx ends, the statement ends on the server, too. After an
	// error only Close may follow, or Reset, whose error then says whether the session can be used again.
	Query(ctx context.Context, s *Statement) ([]abi.SQLColumn, error)
	// Next fills row, which has a value for each column. Its bytes are valid until the next call. The end is [io.EOF].
	Next(row []abi.SQLValue) error
	// Reset ends the statement and undoes all its effects on the session. After an error the session must be closed.
	Reset(ctx context.Context) error
	// Close ends the session.
	Close() error
}

// A Driver opens sessions with one database. It is safe for concurrent use.
type Driver interface {
	Connect(ctx context.Context) (Session, error)
}

// ErrLost is the error of a session that has ended before the statement had a lasting effect: it may be retried in another
// session.
var ErrLost = errors.New("the connection has been closed by the server")

// TooLarge is the error for a value of more bytes than the limit.
func TooLarge(column string, limit int) error {
	return abi.Errorf(abi.CodeTooLarge, "a value of column %.64q has more than %d bytes", column, limit)
}

// NoRows is the error for a statement that gives no rows, which does something else than read.
func NoRows() error { return abi.Errorf(abi.CodeDenied, "only statements that give rows may be run") }
