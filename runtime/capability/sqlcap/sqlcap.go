package sqlcap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// Main acts as a helper process for SQLite and exits, if this process was started as one; otherwise it returns at once.
// Call it first in main, and in TestMain of tests that query SQLite.
func Main() { sqlite.Main() }

// SQL queries the databases of its configuration. It is safe for concurrent use.
type SQL struct {
	connections map[string]*connection
	cursors     *cursors
	observe     capability.Observer
}

type connection struct {
	name   string
	limits Limits
	pool   *pool

	privileged bool // the role may do more than read
}

// Open checks a configuration. It does not connect: see [SQL.Check]. The caller closes the SQL. observe receives each use; it
// may be nil.
func Open(cfg Config, observe capability.Observer) (*SQL, error) {
	s := &SQL{connections: map[string]*connection{}, cursors: newCursors(), observe: observe}
	for name, c := range cfg.Connections {
		logger := slog.New(slog.DiscardHandler)
		if cfg.Logger != nil {
			logger = cfg.Logger.With("connection", name)
		}
		c.Limits = c.Limits.withDefaults()
		driver, err := c.driver(logger)
		if err != nil {
			return nil, fmt.Errorf("sql connection %q: %w", name, err)
		}
		s.connections[name] = &connection{name, c.Limits, newPool(driver, c.Limits, c.DSN.scheme != SQLite), c.Privileged}
	}
	return s, nil
}

// Check connects to each database, so that errors show before a guest queries it. It logs a warning about roles that may
// write.
func (s *SQL) Check(ctx context.Context) error {
	var errs []error
	for _, c := range s.connections {
		session, _, err := c.pool.acquire(ctx)
		if err == nil {
			c.pool.release(session)
			continue
		}
		if cause := errors.Unwrap(err); cause != nil {
			err = fmt.Errorf("%w: %w", err, cause)
		}
		errs = append(errs, fmt.Errorf("sql connection %q: %w", c.name, err))
	}
	return errors.Join(errs...)
}

// Close ends all statements and closes all sessions. Calls that still run fail.
func (s *SQL) Close() error {
	var errs []error
	for _, c := range s.connections {
		errs = append(errs, c.pool.close())
	}
	s.cursors.close()
	return errors.Join(errs...)
}

// Services returns the two services, to be granted together.
func (s *SQL) Services() capability.Services {
	return capability.Services{abi.ServiceSQL: queries{s}, abi.ServiceSQLRows: nextRows{s}}
}

type queries struct{ sql *SQL }

// Call implements [capability.Service].
func (q queries) Call(ctx context.Context, request []byte) (capability.Response, error) {
	var req abi.SQLRequest
	if err := ready(ctx, req.Decode, request); err != nil {
		return capability.Response{}, err
	}
	began, about := time.Now(), subject(&req)
	message, err := q.sql.query(ctx, &req, about)
	q.sql.report(ctx, about, message, err, began)
	return capability.Response{Message: message}, err
}

// IsPrompt implements [capability.Prompt].
func (q queries) IsPrompt() bool { return q.sql.endsHelpers() }

// endsHelpers reports whether all databases are queried in helpers, which are killed at the deadline of a call. Only the
// network ends a query of a server.
func (s *SQL) endsHelpers() bool {
	for _, c := range s.connections {
		if c.pool.remote {
			return false
		}
	}
	return true
}

// MayRepeat implements [capability.Repeatable]. Statements run in read-only transactions. A privileged role may do what such
// a transaction does not prevent.
func (q queries) MayRepeat(request []byte) bool {
	var req abi.SQLRequest
	if err := req.Decode(request); err != nil {
		return false
	}
	conn := q.sql.connections[req.Connection]
	return conn != nil && !conn.privileged
}

type nextRows struct{ sql *SQL }

// Call implements [capability.Service].
func (r nextRows) Call(ctx context.Context, request []byte) (capability.Response, error) {
	var req abi.StreamRequest
	if err := ready(ctx, req.Decode, request); err != nil {
		return capability.Response{}, err
	}
	began := time.Now()
	c := r.sql.cursors.find(ctx, req.Stream)
	if c == nil {
		err := abi.Errorf(abi.CodeInvalidParams, "no stream %d in this call", req.Stream)
		r.sql.report(ctx, "rows", nil, err, began)
		return capability.Response{}, err
	}
	message, err := r.sql.more(ctx, req.Stream, c)
	r.sql.report(ctx, c.subject, message, err, began)
	return capability.Response{Message: message}, err
}

// IsPrompt implements [capability.Prompt].
func (r nextRows) IsPrompt() bool { return r.sql.endsHelpers() }

// MayRepeat implements [capability.Repeatable].
func (nextRows) MayRepeat([]byte) bool { return true }

// ready decodes a request, unless the call has ended.
func ready(ctx context.Context, decode func([]byte) error, request []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return decode(request)
}

// subject names a statement by its connection and its beginning, without its arguments.
func subject(req *abi.SQLRequest) string {
	const most = 200
	text := req.Query
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	name := req.Connection
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return strconv.Quote(name) + ": " + inOneLine(text)
}

// maxName is how many bytes of the name of a connection are shown.
const maxName = 64

// inOneLine replaces each run of white space by one blank, and removes it at both ends.
func inOneLine(text string) string {
	wasSpace := true // none at the beginning
	for _, r := range text {
		isSpace := unicode.IsSpace(r)
		if isSpace && (wasSpace || r != ' ') {
			return strings.Join(strings.Fields(text), " ") // which allocates
		}
		wasSpace = isSpace
	}
	return strings.TrimSuffix(text, " ")
}

func (s *SQL) report(ctx context.Context, subject string, message []byte, err error, began time.Time) {
	s.observe.Observe(ctx, capability.Use{
		Capability: "sql", Subject: subject, Code: abi.CodeOf(err), Bytes: uint64(len(message)), Elapsed: time.Since(began),
	})
}

// query runs a statement and gives its first rows.
func (s *SQL) query(ctx context.Context, req *abi.SQLRequest, about string) ([]byte, error) {
	conn := s.connections[req.Connection]
	if conn == nil {
		return nil, abi.Errorf(abi.CodeDenied, "no connection %.64q is granted", req.Connection)
	}
	if err := conn.check(req); err != nil {
		return nil, err
	}
	if err := s.cursors.checkCount(ctx, conn.limits.Cursors); err != nil {
		return nil, err
	}
	c, err := conn.begin(ctx, req)
	if err != nil {
		return nil, ended(ctx, err)
	}
	c.subject = about
	message, more, err := c.part((&abi.SQLResponse{Columns: c.columns}).Append(nil))
	if !more {
		return message, ended(ctx, err)
	}
	return (&abi.SQLResponse{Stream: s.cursors.add(ctx, c)}).Append(message), nil
}

// more returns the next rows of a statement.
func (s *SQL) more(ctx context.Context, id uint64, c *cursor) ([]byte, error) {
	message, more, err := c.part(nil)
	if !more {
		s.cursors.remove(ctx, id)
		return message, ended(ctx, err)
	}
	return (&abi.SQLResponse{Stream: id}).Append(message), nil
}

// ended returns the error of ctx if it has ended, and err otherwise; nil if err is nil.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// check checks a request against the limits.
func (c *connection) check(req *abi.SQLRequest) error {
	switch {
	case len(req.Query) > c.limits.Query:
		return abi.Errorf(abi.CodeTooLarge, "the statement has more than %d bytes", c.limits.Query)
	case strings.IndexByte(req.Query, 0) >= 0:
		return abi.Errorf(abi.CodeInvalidParams, "the statement has a zero byte")
	case len(req.Args) > c.limits.Args:
		return abi.Errorf(abi.CodeTooLarge, "more than %d values for parameters", c.limits.Args)
	}
	for i := range req.Args {
		switch a := &req.Args[i]; {
		case a.Kind > abi.SQLBytes:
			return abi.Errorf(abi.CodeInvalidParams, "parameter %d has the unknown kind %d", i+1, a.Kind)
		case len(a.Text) > c.limits.Cell, len(a.Bytes) > c.limits.Cell:
			return abi.Errorf(abi.CodeTooLarge, "parameter %d has more than %d bytes", i+1, c.limits.Cell)
		}
	}
	return nil
}

// begin runs a statement. If the server has ended an idle session meanwhile, it retries in a new one.
func (c *connection) begin(ctx context.Context, req *abi.SQLRequest) (*cursor, error) {
	for {
		session, used, err := c.pool.acquire(ctx)
		if err != nil {
			return nil, err
		}
		columns, err := session.Query(ctx, &database.Statement{
			Query: req.Query, Args: req.Args, Rows: req.MaxRows, Timeout: c.timeout(ctx),
		})
		if err == nil && len(columns) > c.limits.Columns {
			err = abi.Errorf(abi.CodeTooLarge, "more than %d columns", c.limits.Columns)
		}
		if err == nil && names(columns) > maxHead {
			err = abi.Errorf(abi.CodeTooLarge, "columns with names of more than %d bytes", maxHead)
		}
		if err == nil {
			return c.cursor(req, session, columns), nil
		}
		if used && errors.Is(err, database.ErrLost) && ctx.Err() == nil {
			c.pool.drop(session)
			c.pool.forget()
			continue
		}
		c.pool.release(session)
		return nil, err
	}
}

// names returns the bytes of the description of columns.
func names(columns []abi.SQLColumn) (n int) {
	for i := range columns {
		n += len(columns[i].Name) + len(columns[i].Type) + 16
	}
	return n
}

func (c *connection) cursor(req *abi.SQLRequest, session database.Session, columns []abi.SQLColumn) *cursor {
	rows, strict := c.limits.Rows, true
	if req.MaxRows > 0 && req.MaxRows <= rows {
		rows, strict = req.MaxRows, false
	}
	return &cursor{
		conn: c, session: session, columns: columns, row: make([]abi.SQLValue, len(columns)),
		rows: rows, strict: strict, bytes: c.limits.Bytes,
	}
}

// timeout returns how long a statement may take: a little less than the call, so that the server ends it first.
func (c *connection) timeout(ctx context.Context) time.Duration {
	timeout := c.limits.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		timeout = min(timeout, left-min(left/20, 20*time.Millisecond))
	}
	return max(timeout, time.Millisecond)
}
