package wazero

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"

	"github.com/tetratelabs/wazero"
)

// A fileCache is where a compilation cache keeps its entries: wazero's own interface, which it does not export.
type fileCache interface {
	Get(key [sha256.Size]byte) (content io.ReadCloser, ok bool, err error)
	Add(key [sha256.Size]byte, content io.Reader) error
	Delete(key [sha256.Size]byte) error
}

// A codeCache is the fileCache of a compilation cache, between wazero and the one that it has made. It reads entries in large
// pieces, and maps native code where there is a file for it. It is safe for concurrent use.
type codeCache struct {
	fileCache
	file *os.File // has the native code of the only module; nil to copy that of all

	mu     sync.Mutex // guards the fields below
	mapped []byte     // where file is mapped, until take
	err    error      // why it is not mapped
}

var (
	errInMemory = errors.New("the compilation cache is in memory")
	errNoFile   = errors.New("there is no file of the native code")
	errNotRead  = errors.New("the compilation cache has no entry for the module")
)

// newCodeCache puts a codeCache into a compilation cache. wazero has no option for that, so newCodeCache sets the field, and fails if
// wazero has another one.
func newCodeCache(cache wazero.CompilationCache, file *os.File) (*codeCache, error) {
	v := reflect.ValueOf(cache)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("wazero has changed: its compilation cache is a %T", cache)
	}
	c := &codeCache{file: file, err: errNotRead}
	field := v.Elem().FieldByName("fileCache")
	if !field.IsValid() || field.Kind() != reflect.Interface || !reflect.TypeOf(c).Implements(field.Type()) {
		return nil, errors.New("wazero has changed: its compilation cache keeps entries in another way")
	}
	field = reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem() // of an unexported field
	own, ok := field.Interface().(fileCache)
	if !ok {
		return nil, errors.New("the compilation cache has no directory")
	}
	c.fileCache = own
	field.Set(reflect.ValueOf(c))
	return c, nil
}

// Get implements fileCache. An entry that is not as [NativeCode] says is left to wazero.
func (c *codeCache) Get(key [sha256.Size]byte) (io.ReadCloser, bool, error) {
	content, ok, err := c.fileCache.Get(key)
	file, isFile := content.(*os.File)
	if err != nil || !ok || !isFile {
		return content, ok, err
	}
	r, err := newEntryReader(file, c)
	if err != nil {
		c.set(nil, err)
		return content, ok, nil
	}
	return r, true, nil
}

func (c *codeCache) set(mapped []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mapped, c.err = mapped, err
}

// mapCode maps the file over p, memory that wazero has mapped for native code. It reports whether p has the code of the file.
// wazero then compares the checksum of p with that of the entry, and p cannot be written to.
func (c *codeCache) mapCode(p []byte) bool {
	if c.file == nil {
		c.set(nil, errNoFile)
		return false
	}
	err := mapFile(p, c.file)
	if err != nil {
		c.set(nil, err)
		return false
	}
	c.set(p, nil)
	return true
}

// take returns where the native code of the module that was read last is mapped; nil and the reason if it was copied.
func (c *codeCache) take() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mapped, err := c.mapped, c.err
	c.mapped, c.err = nil, errNotRead
	return mapped, err
}
