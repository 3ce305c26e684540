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

// Config grants connections to databases.
type Config struct {
	Connections map[string]Connection // by the name that guests use
	Logger      *slog.Logger          // for warnings to the operator about roles; nil discards
}

// A Connection is a database that may be queried.
type Connection struct {
	DSN    DSN
	Limits Limits
	// Privileged accepts a role with privileges that a read-only transaction does not take away: a superuser, or a role
	// that may use files or programs of the server.
	Privileged bool
	// Foreign says that the operator does not know the DSN: see [database.Config]. It cannot be that of SQLite.
	Foreign bool
	Private bool // whether a foreign DSN may lead to addresses that are not public
}

// Limits bound a connection. Zero fields take the default.
type Limits struct {
	Timeout  time.Duration // of a statement with all its rows, on the server; default 10 s. The deadline of the call counts, too
	Wait     time.Duration // for a session while all are in use; default 2 s
	Rows     uint64        // of one statement; default 100,000
	Bytes    uint64        // of all rows of one statement, encoded; default 64 MiB
	Cell     int           // bytes of one value; default 512 KiB, at most [MaxCell]
	Columns  int           // default 256, at most 1000
	Query    int           // bytes of a statement; default 64 KiB, at most 1 MiB
	Args     int           // default 100, at most 1000
	Sessions int           // at the same time, for all guests; default 4
	Cursors  int           // open statements of one call at the same time; default 4
}

// MaxCell is the most bytes of one value: a row must fit into one answer.
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

// driver makes the driver for the database of a connection.
func (c *Connection) driver(logger *slog.Logger) (database.Driver, error) {
	cfg := database.Config{
		Limits: database.Limits{
			Cell: c.Limits.Cell, Columns: c.Limits.Columns, Query: c.Limits.Query, Args: c.Limits.Args,
		},
		Privileged: c.Privileged, Logger: logger, Foreign: c.Foreign, Private: c.Private,
	}
	switch c.DSN.scheme {
	case Postgres:
		return postgres.New(c.DSN.text, cfg)
	case MySQL:
		return mysql.New(c.DSN.text, cfg)
	case SQLite:
		if c.Foreign {
			return nil, errors.New("a sealed data source name is that of a server: name the file of SQLite in the policy, as dsn: sqlite:/path")
		}
		path := strings.TrimPrefix(c.DSN.text, "sqlite:")
		return sqlite.New(strings.TrimPrefix(path, "//"), cfg)
	}
	return nil, errors.New("no DSN is set")
}
