package sqlite

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/process"
)

const (
	// childName is the zeroth argument of a helper process. It has no other.
	childName = "wasmres-sqlite"
	// childMemory is how many bytes of address space a helper may take beyond those at its start: the memory of SQLite,
	// with fragmentation, and that of Go. On Linux only.
	childMemory = heapLimit + 96<<20
	// childStack bounds the stack of the goroutine that runs SQLite, in bytes.
	childStack = 32 << 20
	// maxShared bounds the -shm file that SQLite extends, in bytes: 32 KiB for each 16 MiB of the -wal file.
	maxShared = 256 << 20
)

// An openRequest names the database that a helper opens.
type openRequest struct {
	Path   string          `json:"path"` // absolute
	Limits database.Limits `json:"limits"`
}

// A failure is an error in a frame.
type failure struct {
	Code    abi.Code `json:"code"`
	Message string   `json:"message,omitempty"`
	Cause   string   `json:"cause,omitempty"`
	// Reopen reports that the statement may succeed in a new helper: the database may have other files by now.
	Reopen bool `json:"reopen,omitempty"`
}

// Main acts as a helper and exits, if this process was started as one; otherwise it returns at once. Call it first in main,
// and in TestMain of tests that query SQLite.
func Main() { MainWith(nil) }

// MainWith is [Main] for tests that look at the process from inside: the helper calls confined before it opens the database,
// unless it is nil.
func MainWith(confined func(path string, layers confine.Layers) error) {
	process.Main()
	if !isChild() {
		return
	}
	process.Tie()
	// A blocking read returns sooner than one by Go's poller.
	_ = syscall.SetNonblock(syscall.Stdin, false)
	_ = syscall.SetNonblock(syscall.Stdout, false)
	c := &child{out: os.NewFile(uintptr(syscall.Stdout), "answers"), confined: confined}
	if err := c.run(os.NewFile(uintptr(syscall.Stdin), "requests")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// isChild reports whether this process was started as a helper.
func isChild() bool { return len(os.Args) == 1 && os.Args[0] == childName }

// A child is the helper's side: one session, and one request at a time.
type child struct {
	in       *bufio.Reader
	out      io.Writer
	box      *box // nil where frames take the pipes alone
	confined func(path string, layers confine.Layers) error
	session  *session
	request  []byte // memory for the payloads of frames that are read
	whole    []byte // memory for frames of the box
	answer   []byte // memory for frames that are written
	left     uint64 // rows that the statement may still give
}

// run opens the connection to the parent, and answers until the parent closes its end.
func (c *child) run(in *os.File) (err error) {
	if c.box, err = openBox(); err != nil {
		return err
	}
	requests, err := newRequests(in)
	if err != nil {
		return err
	}
	c.in = bufio.NewReaderSize(requests, 64<<10)
	return c.serve()
}

// serve answers until the parent closes its end.
func (c *child) serve() error {
	for {
		f, err := c.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.handle(f); err != nil {
			return err
		}
	}
}

// next waits for a request.
func (c *child) next() (frame, error) {
	if c.box != nil {
		if b, come := c.box.next(c.whole); come {
			c.whole = b
			return parseFrame(b, maxRequest)
		}
	}
	f, err := readFrame(c.in, c.request, maxRequest)
	if cap(f.payload) > cap(c.request) {
		c.request = f.payload[:0]
	}
	return f, err
}

// handle runs one request. After an error the helper exits.
func (c *child) handle(f frame) error {
	if (f.kind == kindOpen) != (c.session == nil) {
		return fmt.Errorf("request of kind %d out of order", f.kind)
	}
	switch f.kind {
	case kindOpen:
		return c.reply(kindReady, f, c.open)
	case kindQuery:
		return c.reply(kindAnswer, f, c.query)
	case kindMore:
		return c.reply(kindAnswer, f, func(b []byte, _ []byte) ([]byte, error) { return c.rows(append(b, 1, 0), len(b)) })
	case kindReset:
		c.session.reset()
		return nil
	}
	return fmt.Errorf("request of the unknown kind %d", f.kind)
}

// reply answers a request with the bytes that do appends to b, or with its error.
func (c *child) reply(k kind, f frame, do func(b, payload []byte) ([]byte, error)) error {
	b, err := do(openFrame(c.answer, k, f.number), f.payload)
	if err != nil {
		if c.session != nil {
			c.session.reset()
		}
		text, failed := json.Marshal(failureOf(err))
		if failed != nil {
			return failed
		}
		b = append(openFrame(c.answer, kindFailed, f.number), text...)
	}
	c.answer = sealFrame(b)
	if c.box != nil && c.box.answer(c.answer) {
		return nil
	}
	_, err = c.out.Write(c.answer)
	return err
}

func failureOf(err error) failure {
	f := failure{Code: abi.CodeOf(err), Message: err.Error(), Reopen: errors.Is(err, errStale)}
	if cause := errors.Unwrap(err); cause != nil {
		f.Cause = cause.Error()
	}
	return f
}

// open confines the process to the files of a database and opens it.
func (c *child) open(b, payload []byte) ([]byte, error) {
	var o openRequest
	if err := json.Unmarshal(payload, &o); err != nil {
		return nil, err
	}
	path, err := filepath.EvalSymlinks(o.Path)
	if err != nil {
		return nil, errOpen(err)
	}
	layers, err := confineSelf(path)
	if err != nil {
		return nil, err
	}
	if c.confined != nil {
		if err := c.confined(path, layers); err != nil {
			return nil, err
		}
	}
	if c.session, err = openSession(path, o.Limits); err != nil {
		return nil, err
	}
	text, err := json.Marshal(layers)
	return append(b, text...), err
}

// confineSelf confines the process to the files of one database. On systems other than Linux there are only the limits of Go
// and SQLite.
func confineSelf(path string) (confine.Layers, error) {
	read, write, err := filesOf(path)
	if err != nil {
		return nil, errOpen(err)
	}
	goruntime.GOMAXPROCS(2) // one runs SQLite; without an idle one Go would start a thread at each read
	debug.SetMemoryLimit(childMemory / 4)
	debug.SetMaxStack(childStack)
	limitHeap()
	layers, err := confine.Enter(confine.Profile{
		Memory: childMemory, FileSize: maxShared, Read: read, Write: write, Database: true,
	})
	if goruntime.GOOS != "linux" {
		return nil, nil
	}
	return layers, err
}

// filesOf returns the files that SQLite reads, and those that it also writes while reading: the -shm file, in which
// readers mark their position, and the -wal file, which SQLite opens for writing. For a database in WAL mode it makes
// both, as SQLite does, since confinement can only grant files that exist.
func filesOf(path string) (read, write []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	read = []string{path}
	if _, err := os.Stat(path + "-journal"); err == nil {
		read = append(read, path+"-journal")
	}
	logged, err := usesWAL(path)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{path + "-wal", path + "-shm"} {
		if logged {
			f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, info.Mode().Perm())
			if err == nil {
				_ = f.Close() // nothing was written
			}
		}
		if file, err := os.Lstat(name); err == nil && file.Mode().IsRegular() {
			write = append(write, name)
		}
	}
	return read, write, nil
}

// usesWAL reports whether a database is in WAL mode, as bytes 18 and 19 of its header say: "File format version numbers"
// in https://www.sqlite.org/fileformat2.html.
func usesWAL(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var head [20]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false, nil // SQLite reports an invalid file
	}
	return head[18] == 2 && head[19] == 2, nil
}

// query begins a statement and appends its columns and first rows.
func (c *child) query(b, payload []byte) ([]byte, error) {
	if len(payload) < 8 {
		return nil, errors.New("a statement without its timeout")
	}
	var req abi.SQLRequest
	if err := req.Decode(payload[8:]); err != nil {
		return nil, err
	}
	s := &database.Statement{
		Query: req.Query, Args: req.Args, Rows: req.MaxRows, Timeout: time.Duration(binary.LittleEndian.Uint64(payload)),
	}
	columns, err := c.session.query(s)
	if err != nil {
		return nil, err
	}
	if c.left = s.Rows; c.left == 0 {
		c.left = 1<<64 - 1
	}
	at := len(b)
	b = appendColumns(append(b, 1), columns)
	if len(b)-at > maxHead {
		return nil, abi.Errorf(abi.CodeTooLarge, "columns with names of more than %d bytes", maxHead)
	}
	return c.rows(b, at)
}

// rows appends rows until an answer, which begins at b[at], is complete. At the end, and after an error, the statement
// ends.
func (c *child) rows(b []byte, at int) ([]byte, error) {
	for start := len(b); len(b)-start < batchSize; c.left-- {
		if c.left == 0 {
			return c.last(b, at), nil
		}
		next, err := c.session.appendRow(b)
		switch {
		case errors.Is(err, io.EOF):
			return c.last(b, at), nil
		case err != nil:
			return nil, err
		}
		b = next
	}
	return b, nil
}

// last ends the statement and marks an answer as the last.
func (c *child) last(b []byte, at int) []byte {
	c.session.reset()
	b[at] = 0
	return b
}
