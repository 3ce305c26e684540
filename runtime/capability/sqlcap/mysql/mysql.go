// Package mysql queries MySQL and MariaDB.
//
// It is the door to go-sql-driver/mysql, whose connections it uses without database/sql. It first prepares EXPLAIN with
// the statement, which servers accept only for statements that read or write rows. So they refuse procedures, blocks,
// and statements that end a transaction or set a variable. Then it prepares the statement itself, and runs it in a READ
// ONLY transaction and session. Each statement has its own connection: a SELECT may leave user variables and named
// locks, which a server drops only with the connection.
package mysql

import (
	"context"
	sql "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// New makes a driver for a DSN of the form mysql://user:password@host:3306/database.
func New(dsn string, cfg database.Config) (database.Driver, error) {
	if cfg.Foreign {
		if err := database.CheckForeign(dsn, "tls"); err != nil {
			return nil, err
		}
	}
	c, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	if cfg.Foreign {
		c.DialFunc = cfg.Dial
	}
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, errors.New("malformed DSN: tls is true, skip-verify or preferred")
	}
	return &server{connector: connector, cfg: cfg, reads: map[string]bool{}}, nil
}

// A server opens sessions.
type server struct {
	connector sql.Connector
	cfg       database.Config
	warned    sync.Once

	mu    sync.Mutex
	reads map[string]bool // statements that EXPLAIN accepted; guarded by mu
}

// Connect implements [database.Driver].
func (d *server) Connect(ctx context.Context) (database.Session, error) {
	s := &session{server: d}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.checkRole(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// A session is a connection to a server, which is replaced after each statement.
type session struct {
	server *server
	conn   sql.Conn
	id     string // of the connection, on the server
	maria  bool

	columns []abi.SQLColumn
	kinds   []abi.SQLKind
	rows    sql.Rows
	row     []sql.Value
	ended   bool // rows has no more rows
}

func (s *session) connect(ctx context.Context) error {
	conn, err := s.server.connector.Connect(ctx)
	if err != nil {
		return err
	}
	s.conn, s.rows, s.ended = conn, nil, false
	about, err := s.texts(ctx, "SELECT CONCAT(CONNECTION_ID(), ' ', VERSION())")
	if err != nil || len(about) != 1 {
		_ = conn.Close()
		return errors.Join(errors.New("the server does not give its connection ID and version"), err)
	}
	id, version, _ := strings.Cut(about[0], " ")
	s.id, s.maria = id, strings.Contains(version, "MariaDB")
	if err := s.exec(ctx, "SET SESSION TRANSACTION READ ONLY"); err != nil {
		_ = conn.Close()
		return err
	}
	return nil
}

func (s *session) exec(ctx context.Context, statement string) error {
	_, err := s.conn.(sql.ExecerContext).ExecContext(ctx, statement, nil)
	return err
}

// texts returns the first column of a statement of this package.
func (s *session) texts(ctx context.Context, statement string) (all []string, err error) {
	rows, err := s.conn.(sql.QueryerContext).QueryContext(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]sql.Value, len(rows.Columns()))
	for {
		err := rows.Next(row)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprintf("%s", row[0]))
	}
}

// Query implements [database.Session].
func (s *session) Query(ctx context.Context, q *database.Statement) ([]abi.SQLColumn, error) {
	if err := s.begin(ctx, q.Timeout); err != nil {
		if errors.Is(err, sql.ErrBadConn) {
			return nil, database.ErrLost
		}
		return nil, failed(err)
	}
	if err := s.checkReads(ctx, q.Query); err != nil {
		return nil, failed(err)
	}
	stmt, err := s.conn.(sql.ConnPrepareContext).PrepareContext(ctx, q.Query)
	if err != nil {
		return nil, failed(err)
	}
	if want := stmt.NumInput(); want != len(q.Args) {
		return nil, abi.Errorf(abi.CodeInvalidParams, "the statement has %d parameters, the request has %d values", want,
			len(q.Args))
	}
	if s.rows, err = stmt.(sql.StmtQueryContext).QueryContext(ctx, arguments(q.Args)); err != nil {
		return nil, failed(err)
	}
	if s.describe(); len(s.columns) == 0 {
		return nil, database.NoRows()
	}
	return s.columns, nil
}

// begin begins a read-only transaction, and sets the time limits of the server.
func (s *session) begin(ctx context.Context, timeout time.Duration) error {
	limits := fmt.Sprintf("SET SESSION max_execution_time=%d, lock_wait_timeout=1, innodb_lock_wait_timeout=1, "+
		"time_zone='+00:00'", timeout.Milliseconds()+1)
	if s.maria {
		limits = fmt.Sprintf("SET SESSION max_statement_time=%.3f, lock_wait_timeout=1, innodb_lock_wait_timeout=1, "+
			"time_zone='+00:00'", timeout.Seconds()+0.001)
	}
	if err := s.exec(ctx, limits); err != nil {
		return err
	}
	return s.exec(ctx, "START TRANSACTION READ ONLY")
}

const (
	maxKnown      = 256     // statements in server.reads
	maxKnownBytes = 4 << 10 // bytes of one
	viewNoExplain = 1345    // the role may read a view, but not have it explained
)

// checkReads refuses what EXPLAIN does not accept. It runs no statement.
func (s *session) checkReads(ctx context.Context, query string) error {
	d := s.server
	d.mu.Lock()
	known := d.reads[query]
	d.mu.Unlock()
	if known {
		return nil
	}
	stmt, err := s.conn.(sql.ConnPrepareContext).PrepareContext(ctx, "EXPLAIN FORMAT=JSON "+query)
	var refused *driver.MySQLError
	if errors.As(err, &refused) && refused.Number == viewNoExplain {
		return nil
	}
	if err != nil {
		return err
	}
	if len(query) <= maxKnownBytes {
		d.mu.Lock()
		if len(d.reads) >= maxKnown {
			clear(d.reads)
		}
		d.reads[query] = true
		d.mu.Unlock()
	}
	return stmt.Close()
}

// Reset implements [database.Session]: it gives the session another connection.
func (s *session) Reset(ctx context.Context) error {
	left, running := s.id, s.rows != nil && !s.ended || s.gone()
	_ = s.conn.Close()
	if err := s.connect(ctx); err != nil {
		return err
	}
	if running {
		_ = s.exec(ctx, "KILL CONNECTION "+left) // it may have ended by itself
	}
	return nil
}

// gone reports whether the connection was closed during a statement, as when a call is cancelled.
func (s *session) gone() bool {
	valid, ok := s.conn.(sql.Validator)
	return ok && !valid.IsValid()
}

// Close implements [database.Session].
func (s *session) Close() error { return s.conn.Close() }
