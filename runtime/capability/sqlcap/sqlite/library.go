package sqlite

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"
)

// The engine counts its memory for the whole process, which runs one statement. Sorting and temporary tables are in
// memory.
const (
	heapShare = 64 << 20 // bytes in use at which a statement is ended between two instructions
	heapLimit = 80 << 20 // the most bytes of the engine
)

// The engine must be configured to count its memory before a database is opened.
func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	counted := libc.NewVaList(int32(1))
	defer libc.Xfree(tls, counted)
	engine.Xsqlite3_config(tls, engine.SQLITE_CONFIG_MEMSTATUS, counted)
}

// limitHeap bounds the memory of the engine, once.
var limitHeap = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	engine.Xsqlite3_hard_heap_limit64(tls, heapLimit)
})

// sessions finds the session of a database handle, for callbacks.
var sessions sync.Map // uintptr -> *session

// callback returns the address of a function for the engine. It must not be a closure.
func callback[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

// progress ends a statement by a result other than 0. The engine calls it every progressEvery instructions.
func progress(tls *libc.TLS, db uintptr) int32 {
	found, ok := sessions.Load(db)
	if !ok {
		return 1
	}
	s := found.(*session)
	s.overMemory = engine.Xsqlite3_memory_used(tls) > heapShare
	if s.overMemory || !s.current() {
		return 1
	}
	return 0
}

// transient makes the engine copy a value.
var transient = libc.UintptrFromInt32(-1)

// authorize allows or denies an action of a statement. The engine calls it for each one while it compiles the statement.
func authorize(_ *libc.TLS, _ uintptr, action int32, first, _, _, _ uintptr) int32 {
	switch action {
	case engine.SQLITE_SELECT, engine.SQLITE_READ, engine.SQLITE_RECURSIVE, engine.SQLITE_FUNCTION:
		return engine.SQLITE_OK
	case engine.SQLITE_PRAGMA:
		if describing[libc.GoString(first)] {
			return engine.SQLITE_OK
		}
	}
	return engine.SQLITE_DENY
}

// describing are the pragmas that only describe the schema.
var describing = map[string]bool{
	"table_list": true, "table_info": true, "table_xinfo": true, "foreign_key_list": true,
	"index_list": true, "index_info": true, "index_xinfo": true,
}
