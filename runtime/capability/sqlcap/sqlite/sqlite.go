// Package sqlite queries a SQLite database file.
//
// It is the door to SQLite, which runs inside this process. The file is opened for reading alone; an authorizer, which
// SQLite asks while it compiles a statement, refuses all that does not read: writes, transactions, attached databases
// and pragmas but those that describe the schema. It calls the engine itself: its driver for database/sql cannot end a
// statement between two rows, runs several statements at once, and parses texts in columns of dates.
package sqlite

import (
	"context"
	"os"
	"sync"
	"time"

	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// New makes a driver for a database file.
func New(path string, cfg database.Config) database.Driver { return &driver{path, cfg} }

type driver struct {
	path string
	cfg  database.Config
}

// Connect implements [database.Driver].
func (d *driver) Connect(context.Context) (database.Session, error) {
	limitHeap()
	s := &session{tls: libc.NewTLS(), limits: d.cfg.Limits, compiled: map[string]uintptr{}}
	if err := s.open(d.path); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// A session is a database handle, whose state no statement can change.
type session struct {
	tls    *libc.TLS
	db     uintptr
	stmt   uintptr // that runs, one of compiled
	limits database.Limits

	compiled map[string]uintptr // statements by their text, ready to run again

	columns []abi.SQLColumn
	ctx     context.Context // of the statement that runs
	until   time.Time       // when it is over
	first   bool            // the statement is at its first row, which has not been given yet
	ended   bool            // the statement has no more rows
	greedy  bool            // the statement was ended for the memory that is in use
	once    sync.Once       // closes
}

func (s *session) open(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return abi.Errorf(abi.CodeUnavailable, "the database cannot be opened").Because(err)
	}
	name, err := libc.CString(path)
	if err != nil {
		return err
	}
	defer libc.Xfree(s.tls, name)
	place := s.tls.Alloc(8)
	defer s.tls.Free(8)
	const flags = engine.SQLITE_OPEN_READONLY | engine.SQLITE_OPEN_NOMUTEX | engine.SQLITE_OPEN_EXRESCODE
	rc := engine.Xsqlite3_open_v2(s.tls, name, place, flags, 0)
	if s.db = pointer(place); rc != engine.SQLITE_OK {
		return s.failed(rc)
	}
	sessions.Store(s.db, s)
	return s.lockDown()
}

// switches are what of the engine is on and off.
var switches = map[int32]int32{
	engine.SQLITE_DBCONFIG_DEFENSIVE: 1, engine.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
	engine.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: 0, engine.SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER: 0,
	engine.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0, engine.SQLITE_DBCONFIG_WRITABLE_SCHEMA: 0,
	engine.SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE: 0, engine.SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE: 0,
}

// lockDown holds the handle to reading, and to its limits.
func (s *session) lockDown() error {
	for what, value := range switches {
		list := libc.NewVaList(value, uintptr(0))
		rc := engine.Xsqlite3_db_config(s.tls, s.db, what, list)
		if libc.Xfree(s.tls, list); rc != engine.SQLITE_OK {
			return s.failed(rc)
		}
	}
	if err := s.pragmas(); err != nil {
		return err
	}
	for what, most := range map[int32]int{
		engine.SQLITE_LIMIT_LENGTH:     lengthLimit,
		engine.SQLITE_LIMIT_SQL_LENGTH: s.limits.Query + 1, engine.SQLITE_LIMIT_VARIABLE_NUMBER: s.limits.Args,
		engine.SQLITE_LIMIT_ATTACHED: 0, engine.SQLITE_LIMIT_WORKER_THREADS: 0,
		engine.SQLITE_LIMIT_VDBE_OP: 1 << 20, engine.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1 << 10,
	} {
		engine.Xsqlite3_limit(s.tls, s.db, what, int32(most))
	}
	engine.Xsqlite3_busy_timeout(s.tls, s.db, int32(busyWait.Milliseconds()))
	engine.Xsqlite3_progress_handler(s.tls, s.db, progressEvery, callback(progress), s.db)
	if rc := engine.Xsqlite3_set_authorizer(s.tls, s.db, callback(authorize), s.db); rc != engine.SQLITE_OK {
		return s.failed(rc)
	}
	return nil
}

const (
	busyWait      = 250 * time.Millisecond // for somebody who writes
	progressEvery = 1000                   // instructions of the engine
	lengthLimit   = 2 << 20                // bytes of a value amid a statement: no instruction has more to do
)

func (s *session) pragmas() error {
	sql, err := libc.CString("PRAGMA query_only=1; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; PRAGMA cell_size_check=1")
	if err != nil {
		return err
	}
	defer libc.Xfree(s.tls, sql)
	if rc := engine.Xsqlite3_exec(s.tls, s.db, sql, 0, 0, 0); rc != engine.SQLITE_OK {
		return s.failed(rc)
	}
	return nil
}

// current reports whether the statement may go on.
func (s *session) current() bool {
	return s.ctx == nil || s.ctx.Err() == nil && time.Now().Before(s.until)
}

// Query implements [database.Session].
func (s *session) Query(ctx context.Context, q *database.Statement) ([]abi.SQLColumn, error) {
	s.ctx, s.until = ctx, time.Now().Add(q.Timeout)
	if err := s.find(q.Query); err != nil {
		return nil, err
	}
	if err := s.bind(q.Args); err != nil {
		return nil, err
	}
	if err := s.step(); err != nil {
		return nil, err
	}
	s.describe() // only now: the engine may have compiled it again
	s.first = !s.ended
	return s.columns, nil
}

// mostCompiled is how many statements a session keeps.
const mostCompiled = 16

// find makes a text the statement that runs. One that was compiled before is compiled again, and authorized again, by
// the engine alone, when the schema has changed.
func (s *session) find(text string) error {
	s.stmt = s.compiled[text]
	if s.stmt != 0 {
		return nil
	}
	if len(s.compiled) >= mostCompiled {
		s.forget()
	}
	if err := s.compile(text); err != nil {
		engine.Xsqlite3_finalize(s.tls, s.stmt)
		s.stmt = 0
		return err
	}
	s.compiled[text] = s.stmt
	return nil
}

// forget finalizes what is compiled.
func (s *session) forget() {
	for _, stmt := range s.compiled {
		engine.Xsqlite3_finalize(s.tls, stmt)
	}
	clear(s.compiled)
}

// compile compiles a text that is one statement.
func (s *session) compile(text string) error {
	sql, err := libc.CString(text)
	if err != nil {
		return err
	}
	defer libc.Xfree(s.tls, sql)
	places := s.tls.Alloc(16)
	defer s.tls.Free(16)
	for at, end := sql, sql+uintptr(len(text)); at < end; at = pointer(places + 8) {
		rc := engine.Xsqlite3_prepare_v3(s.tls, s.db, at, int32(end-at), 0, places, places+8)
		if rc != engine.SQLITE_OK {
			return s.failed(rc)
		}
		stmt := pointer(places)
		if stmt == 0 {
			continue // white space, or a comment
		}
		if s.stmt != 0 {
			engine.Xsqlite3_finalize(s.tls, stmt)
			return abi.Errorf(abi.CodeInvalidParams, "more than one statement")
		}
		s.stmt = stmt
	}
	if s.stmt == 0 || engine.Xsqlite3_column_count(s.tls, s.stmt) == 0 || engine.Xsqlite3_stmt_readonly(s.tls,
		s.stmt) == 0 {
		return database.NoRows()
	}
	return nil
}

func (s *session) bind(args []abi.SQLValue) error {
	if want := engine.Xsqlite3_bind_parameter_count(s.tls, s.stmt); int(want) != len(args) {
		return abi.Errorf(abi.CodeInvalidParams, "the statement has %d parameters, there are %d values", want, len(args))
	}
	for i := range args {
		if rc := s.bindOne(int32(i+1), &args[i]); rc != engine.SQLITE_OK {
			return s.failed(rc)
		}
	}
	return nil
}

func (s *session) bindOne(at int32, v *abi.SQLValue) int32 {
	switch v.Kind {
	case abi.SQLBool, abi.SQLInt:
		return engine.Xsqlite3_bind_int64(s.tls, s.stmt, at, v.Int)
	case abi.SQLFloat:
		return engine.Xsqlite3_bind_double(s.tls, s.stmt, at, v.Float)
	case abi.SQLText:
		p := s.copied([]byte(v.Text))
		defer libc.Xfree(s.tls, p)
		return engine.Xsqlite3_bind_text(s.tls, s.stmt, at, p, int32(len(v.Text)), transient)
	case abi.SQLBytes:
		if len(v.Bytes) == 0 {
			return engine.Xsqlite3_bind_zeroblob(s.tls, s.stmt, at, 0)
		}
		p := s.copied(v.Bytes)
		defer libc.Xfree(s.tls, p)
		return engine.Xsqlite3_bind_blob(s.tls, s.stmt, at, p, int32(len(v.Bytes)), transient)
	}
	return engine.Xsqlite3_bind_null(s.tls, s.stmt, at)
}

// copied gives bytes in memory of the engine's, to be freed.
func (s *session) copied(b []byte) uintptr {
	p := libc.Xmalloc(s.tls, libc.Tsize_t(len(b)+1))
	copy(libc.GoBytes(p, len(b)), b)
	return p
}

func (s *session) describe() {
	s.columns = s.columns[:0]
	for i := range engine.Xsqlite3_column_count(s.tls, s.stmt) {
		s.columns = append(s.columns, abi.SQLColumn{
			Name: text(engine.Xsqlite3_column_name(s.tls, s.stmt, i)),
			Type: text(engine.Xsqlite3_column_decltype(s.tls, s.stmt, i)),
		})
	}
}

// step goes to the next row.
func (s *session) step() error {
	switch rc := engine.Xsqlite3_step(s.tls, s.stmt); rc {
	case engine.SQLITE_ROW:
		return nil
	case engine.SQLITE_DONE:
		s.ended = true
		return nil
	default:
		return s.failed(rc)
	}
}

// Reset implements [database.Session].
func (s *session) Reset(context.Context) error {
	if s.stmt != 0 {
		engine.Xsqlite3_reset(s.tls, s.stmt) // says again how the statement failed
		engine.Xsqlite3_clear_bindings(s.tls, s.stmt)
	}
	s.stmt, s.ctx, s.first, s.ended, s.greedy = 0, nil, false, false, false
	return nil
}

// Close implements [database.Session].
func (s *session) Close() error {
	s.once.Do(func() {
		s.forget()
		sessions.Delete(s.db)
		engine.Xsqlite3_close_v2(s.tls, s.db)
		s.tls.Close()
	})
	return nil
}
