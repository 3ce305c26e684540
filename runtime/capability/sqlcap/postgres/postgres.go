// Package postgres queries PostgreSQL.
//
// It is the door to pgx, and uses only its implementation of the protocol. It sends a statement by the extended
// protocol, which takes one statement at a time. It runs the statement only if the server describes rows for it:
// statements that end a transaction or change the session have none. The transaction is READ ONLY, and has run one
// statement before, after which the server refuses to make it writable. The session starts with
// default_transaction_read_only, and is reset by ROLLBACK and DISCARD ALL.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// settings are the settings of a session. They make the server write all values in one format.
var settings = map[string]string{
	"default_transaction_read_only": "on", "application_name": "wasmres", "client_encoding": "UTF8",
	"datestyle": "ISO, YMD", "intervalstyle": "iso_8601", "timezone": "UTC",
	"bytea_output": "hex", "extra_float_digits": "1", "standard_conforming_strings": "on",
}

const (
	maxMessage = 4 << 20         // bytes of a message of the server; a row is one
	cancelTime = 2 * time.Second // for the server to end a statement after a cancel request
)

// New makes a driver for a connection string as libpq knows it.
func New(dsn string, cfg database.Config) (database.Driver, error) {
	if cfg.Foreign {
		if err := database.CheckForeign(dsn, "sslmode"); err != nil {
			return nil, err
		}
	}
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("malformed DSN: write it as postgres://user:password@host:5432/database")
	}
	for name, value := range settings {
		c.RuntimeParams[name] = value
	}
	c.MaxProtocolMessageBodyLen = maxMessage
	if cfg.Foreign {
		c.DialFunc = cfg.Dial
	}
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelTime}
	}
	return &driver{config: c, cfg: cfg}, nil
}

type driver struct {
	config *pgconn.Config
	cfg    database.Config
	types  sync.Map // uint32 -> string: names of types
	warned sync.Once
}

// Connect implements [database.Driver].
func (d *driver) Connect(ctx context.Context) (database.Session, error) {
	conn, err := pgconn.ConnectConfig(ctx, d.config)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, driver: d}
	if err := s.checkRole(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// role is a query for privileges of the role beyond reading: those that a read-only transaction does not prevent, and
// writing.
const role = `SELECT pg_catalog.current_setting('is_superuser') = 'on'
	OR pg_catalog.pg_has_role('pg_execute_server_program', 'MEMBER')
	OR pg_catalog.pg_has_role('pg_read_server_files', 'MEMBER')
	OR pg_catalog.pg_has_role('pg_write_server_files', 'MEMBER'),
EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
	AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))`

func (s *session) checkRole(ctx context.Context) error {
	result := s.conn.ExecParams(ctx, role, nil, nil, nil, nil).Read()
	if result.Err != nil {
		return result.Err
	}
	is := func(i int) bool { return string(result.Rows[0][i]) == "t" }
	if is(0) && !s.driver.cfg.Privileged {
		return abi.Errorf(abi.CodeDenied, "the role of this connection may do more than read").Because(errors.New(
			"it is a superuser, or may use files or programs of the server: use a role that has only SELECT"))
	}
	if is(0) || is(1) {
		s.driver.warned.Do(s.driver.cfg.WarnOfRole)
	}
	return nil
}

// A session is a connection to a server.
type session struct {
	conn   *pgconn.PgConn
	driver *driver

	columns []abi.SQLColumn
	oids    []uint32             // of the types of columns
	rows    *pgconn.ResultReader // of the running statement; nil at its end
	first   bool                 // rows is at its first row, which Next has not returned yet
}

// statement is the name of the prepared statement.
const statement = "wasmres_guest"

// Query implements [database.Session].
func (s *session) Query(ctx context.Context, q *database.Statement) ([]abi.SQLColumn, error) {
	if err := s.begin(ctx, q.Timeout); err != nil {
		return nil, err
	}
	prepared, err := s.conn.Prepare(ctx, statement, q.Query, nil)
	if err != nil {
		return nil, failed(err)
	}
	if len(prepared.Fields) == 0 {
		return nil, database.NoRows()
	}
	if len(prepared.ParamOIDs) != len(q.Args) {
		return nil, abi.Errorf(abi.CodeInvalidParams, "the statement has %d parameters, the request has %d values",
			len(prepared.ParamOIDs), len(q.Args))
	}
	if err := s.describe(ctx, prepared.Fields); err != nil {
		return nil, failed(err)
	}
	values, formats := arguments(q.Args, prepared.ParamOIDs)
	s.rows = s.conn.ExecPrepared(ctx, statement, values, formats, nil)
	if s.first = s.rows.NextRow(); !s.first {
		err = s.finish()
	}
	return s.columns, err
}

// begin begins a read-only transaction and reads in it: from then on the server refuses to make it writable.
func (s *session) begin(ctx context.Context, timeout time.Duration) error {
	ms := timeout.Milliseconds() + 1
	begin := fmt.Sprintf(`BEGIN READ ONLY; SELECT pg_catalog.set_config('statement_timeout', '%d', true),
pg_catalog.set_config('lock_timeout', '%d', true), pg_catalog.set_config('work_mem', '16MB', true),
pg_catalog.set_config('idle_in_transaction_session_timeout', '%d', true)`, ms, min(ms, 1000), ms+1000)
	if _, err := s.conn.Exec(ctx, begin).ReadAll(); err != nil {
		if s.conn.IsClosed() {
			return fmt.Errorf("%w: %w", database.ErrLost, failed(err))
		}
		return failed(err)
	}
	return nil
}

// describe fills columns.
func (s *session) describe(ctx context.Context, fields []pgconn.FieldDescription) error {
	s.columns, s.oids = make([]abi.SQLColumn, len(fields)), make([]uint32, len(fields))
	for i, f := range fields {
		name, err := s.typeName(ctx, f.DataTypeOID)
		if err != nil {
			return err
		}
		s.columns[i], s.oids[i] = abi.SQLColumn{Name: f.Name, Type: name}, f.DataTypeOID
	}
	return nil
}

// typeName returns the server's name of a type. It queries each type once.
func (s *session) typeName(ctx context.Context, oid uint32) (string, error) {
	if name, ok := s.driver.types.Load(oid); ok {
		return name.(string), nil
	}
	result := s.conn.ExecParams(ctx, fmt.Sprintf("SELECT pg_catalog.format_type(%d, NULL)", oid), nil, nil, nil,
		nil).Read()
	if result.Err != nil {
		return "", result.Err
	}
	name := string(result.Rows[0][0])
	s.driver.types.Store(oid, name)
	return name, nil
}

// finish ends the running statement, after its last row.
func (s *session) finish() error {
	rows := s.rows
	s.rows = nil
	if _, err := rows.Close(); err != nil {
		return failed(err)
	}
	return nil
}

// Reset implements [database.Session].
func (s *session) Reset(ctx context.Context) error {
	if s.rows != nil {
		if err := s.abandon(ctx); err != nil {
			return err
		}
	}
	s.first = false
	for _, undo := range []string{"ROLLBACK", "DISCARD ALL"} {
		if _, err := s.conn.Exec(ctx, undo).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

const (
	fewRows  = 100                   // remaining rows that abandon reads instead of cancelling
	fewWhile = 50 * time.Millisecond // to read them
)

// abandon ends a statement before its last row. Mostly few rows remain: reading them is cheaper than cancelling.
func (s *session) abandon(ctx context.Context) error {
	net := s.conn.Conn()
	if err := net.SetDeadline(time.Now().Add(fewWhile)); err != nil {
		return err
	}
	n := 0
	for n < fewRows && s.rows.NextRow() {
		n++
	}
	if s.conn.IsClosed() {
		return errors.New("the statement did not end") // which Close cancels
	}
	if n == fewRows {
		if err := s.conn.CancelRequest(ctx); err != nil {
			return err
		}
	}
	if err := net.SetDeadline(time.Now().Add(cancelTime)); err != nil {
		return err
	}
	_ = s.finish()
	return net.SetDeadline(time.Time{})
}

// Close implements [database.Session].
func (s *session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
	defer cancel()
	if s.rows != nil {
		_ = s.conn.CancelRequest(ctx)
	}
	return s.conn.Close(ctx)
}
