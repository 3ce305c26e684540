package sqlcap

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/mysql"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/postgres"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// A Config grants connections to databases.
type Config struct {
	Connections map[string]Connection // by the name guests use
	Logger      *slog.Logger          // for what an operator should know of a role; nil for nobody
}

// A Connection is a database that may be queried.
type Connection struct {
	DSN    DSN
	Limits Limits
	// Privileged accepts a role that could do more than a read-only transaction prevents: a superuser, or one who may
	// use files or programs of the server.
	Privileged bool
}

// Limits are those of a connection. Zero means the default of a field.
type Limits struct {
	Timeout  time.Duration // of a statement with all its rows, as the server counts; 10 s. The call's deadline comes first
	Wait     time.Duration // for a session while all are in use; 2 s
	Rows     uint64        // of one statement; 100,000
	Bytes    uint64        // of all rows of one statement, encoded; 64 MiB
	Cell     int           // bytes of one value; 512 KiB, at most [MaxCell]
	Columns  int           // 256, at most 1000
	Query    int           // bytes of a statement; 64 KiB, at most 1 MiB
	Args     int           // 100, at most 1000
	Sessions int           // at the same time, for all guests; 4
	Cursors  int           // statements one call may have under way at the same time; 4
}

// MaxCell is the bytes one value may have at most: a row has to fit one answer.
const MaxCell = maxRow - 1<<10

func (l Limits) withDefaults() Limits {
	l.Timeout = orDefault(l.Timeout, 10*time.Second)
	l.Wait = orDefault(l.Wait, 2*time.Second)
	l.Rows = orDefault(l.Rows, 100_000)
	l.Bytes = orDefault(l.Bytes, 64<<20)
	l.Cell = min(orDefault(l.Cell, 512<<10), MaxCell)
	l.Columns = min(orDefault(l.Columns, 256), 1000)
	l.Query = min(orDefault(l.Query, 64<<10), 1<<20)
	l.Args = min(orDefault(l.Args, 100), 1000)
	l.Sessions = orDefault(l.Sessions, 4)
	l.Cursors = orDefault(l.Cursors, 4)
	return l
}

func orDefault[T int | uint64 | time.Duration](v, standard T) T {
	if v <= 0 {
		return standard
	}
	return v
}

// driver makes what opens sessions with the database of a connection.
func (c *Connection) driver(logger *slog.Logger) (database.Driver, error) {
	cfg := database.Config{
		Limits: database.Limits{
			Cell: c.Limits.Cell, Columns: c.Limits.Columns, Query: c.Limits.Query, Args: c.Limits.Args,
		},
		Privileged: c.Privileged, Logger: logger,
	}
	switch c.DSN.scheme {
	case Postgres:
		return postgres.New(c.DSN.text, cfg)
	case MySQL:
		return mysql.New(c.DSN.text, cfg)
	case SQLite:
		path := strings.TrimPrefix(c.DSN.text, "sqlite:")
		return sqlite.New(strings.TrimPrefix(path, "//"), cfg)
	}
	return nil, errors.New("it has no DSN")
}
