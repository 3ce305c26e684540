// Package sqlite queries a SQLite database file, in a child process for each session.
//
// It is the door to SQLite, and has both sides of the pipe to the child. One instruction of SQLite may take minutes, and
// nothing can end it within a process. So the parent kills a child that does not answer in time, with the one statement it
// runs. The child is confined to the files of its database, and opens it read-only. SQLite asks an authorizer while it
// compiles a statement; that refuses writes, transactions, attached databases, and all pragmas but those that describe the
// schema. The package calls the engine itself: the driver for database/sql cannot end a statement between two rows, runs
// several statements at once, and parses texts in columns of dates.
package sqlite

import (
	"time"

	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
)

// A session is a database handle. No statement can change its state. It belongs to one goroutine at a time.
type session struct {
	tls    *libc.TLS
	db     uintptr
	stmt   uintptr // the running statement, one of compiled; 0 for none
	limits database.Limits

	compiled map[string]uintptr // statements by their text, ready to run again

	columns    []abi.SQLColumn
	until      time.Time // when the running statement must end; zero for never
	first      bool      // the statement is at its first row, which was not read yet
	ended      bool      // the statement has no more rows
	overMemory bool      // the statement was ended because too much memory is in use
}

// openSession opens a regular file, whose path has no symbolic links.
func openSession(path string, limits database.Limits) (*session, error) {
	s := &session{tls: libc.NewTLS(), limits: limits, compiled: map[string]uintptr{}}
	if err := s.open(path); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) open(path string) error {
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

// switches are the settings of the engine.
var switches = map[int32]int32{
	engine.SQLITE_DBCONFIG_DEFENSIVE: 1, engine.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
	engine.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: 0, engine.SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER: 0,
	engine.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0, engine.SQLITE_DBCONFIG_WRITABLE_SCHEMA: 0,
	engine.SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE: 0, engine.SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE: 0,
}

// lockDown makes the handle read-only, and sets its limits.
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
	busyWait      = 250 * time.Millisecond // for the lock of a writer
	progressEvery = 1000                   // instructions of the engine between two calls
	lengthLimit   = 2 << 20                // bytes of a value within a statement, which bounds the work of an instruction
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
	return s.until.IsZero() || time.Now().Before(s.until)
}

// query begins a statement, in place of the one before, and describes its columns. After an error, reset must follow.
func (s *session) query(q *database.Statement) ([]abi.SQLColumn, error) {
	s.reset()
	s.until = time.Now().Add(q.Timeout)
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

// maxCompiled is how many compiled statements a session caches.
const maxCompiled = 16

// find makes text the running statement, compiled before or now. When the schema has changed, the engine itself compiles
// and authorizes a statement again.
func (s *session) find(text string) error {
	s.stmt = s.compiled[text]
	if s.stmt != 0 {
		return nil
	}
	if len(s.compiled) >= maxCompiled {
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

// forget finalizes all compiled statements.
func (s *session) forget() {
	for _, stmt := range s.compiled {
		engine.Xsqlite3_finalize(s.tls, stmt)
	}
	clear(s.compiled)
}

// compile compiles text, which must be one statement.
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
		return abi.Errorf(abi.CodeInvalidParams, "the statement has %d parameters, the request has %d values", want, len(args))
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

// copied copies bytes into memory of the engine. The caller frees it.
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

// reset ends the statement and clears its parameters.
func (s *session) reset() {
	if s.stmt != 0 {
		engine.Xsqlite3_reset(s.tls, s.stmt) // returns the error of the statement again
		engine.Xsqlite3_clear_bindings(s.tls, s.stmt)
	}
	s.stmt, s.until, s.first, s.ended, s.overMemory = 0, time.Time{}, false, false, false
}

func (s *session) close() {
	s.forget()
	sessions.Delete(s.db)
	engine.Xsqlite3_close_v2(s.tls, s.db)
	s.tls.Close()
}
