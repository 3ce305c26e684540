package admit

import (
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A checker is one pass over a module. It keeps its first error, after which it does nothing.
type checker struct {
	// Fixed at creation.
	imports     []Import
	boundary    bool
	allowed     [boundCount]uint64
	memoryPages uint32
	maxCost     uint64

	report *Report
	err    error
	peak   [boundCount]uint64
	cost   uint64 // nanoseconds

	// Where the pass is.
	r     *wasm.Reader // of the section
	last  int          // rank of the newest section
	item  string       // what is being read, as "type"; empty between sections
	index int          // its index

	// The index spaces, imports first.
	types     []funcType
	functions []uint32 // type indices
	tables    []wasm.ValueType
	memories  uint32
	globals   []global
	elements  []wasm.ValueType // of segments

	importedFunctions, importedGlobals int

	exports   map[string]struct{}
	declared  []bool // functions named outside of bodies, which ref.func may therefore name
	dataCount uint32 // from the data count section, if hasCount
	hasCount  bool
	data      uint32 // segments
	bodies    int

	customs                                 int
	totalElements, totalLocals, totalLabels uint64
}

// A funcType is a function type: views of the module.
type funcType struct{ params, results []byte }

type global struct {
	typ     wasm.ValueType
	mutable bool
}

func newChecker(cfg Config, boundary bool) *checker {
	c := &checker{imports: cfg.Imports, boundary: boundary, memoryPages: cfg.MemoryPages}
	if c.memoryPages == 0 {
		c.memoryPages = defaultMemoryPages
	}
	c.memoryPages = min(c.memoryPages, maxMemoryPages)
	allowed := cfg.Limits.WithDefaults()
	for b, count := range allowed.Counts() {
		c.allowed[b] = uint64(*count.Value)
	}
	c.maxCost = uint64(allowed.Cost)
	c.report = &Report{Exports: map[string]abi.Signature{}}
	return c
}

// fail keeps the first error. An error of the reader takes precedence over one about the meaning of its bytes.
func (c *checker) fail(err error) {
	if c.ok() {
		c.err = err
	}
}

// ok reports whether nothing has failed yet, the reader included.
func (c *checker) ok() bool {
	if c.err == nil && c.r != nil && c.r.Err() != nil {
		c.err = c.unreadable(c.r.Err())
	}
	return c.err == nil
}

func (c *checker) unreadable(err error) error {
	var format *wasm.FormatError
	if errors.As(err, &format) {
		return abi.Errorf(abi.CodeModule, "%s%s", c.place(format.Offset), format.Reason).Because(err)
	}
	return malformed(err)
}

// invalid fails because of the item that was just read.
func (c *checker) invalid(format string, args ...any) {
	c.fail(abi.Errorf(abi.CodeModule, "%s%s", c.place(c.r.Offset()), fmt.Sprintf(format, args...)))
}

// refuse fails because of an import or export.
func (c *checker) refuse(format string, args ...any) {
	c.fail(abi.Errorf(abi.CodeIncompatible, format, args...))
}

func (c *checker) place(offset int) string {
	if c.item == "" {
		return fmt.Sprintf("byte %#x: ", offset)
	}
	return fmt.Sprintf("%s %d, byte %#x: ", c.item, c.index, offset)
}

// checkLimit records a value for a limit, and fails when it exceeds the limit.
func (c *checker) checkLimit(b bound, found uint64) bool {
	c.peak[b] = max(c.peak[b], found)
	if found > c.allowed[b] {
		c.fail((&LimitError{Limit: counts[b].Name, Found: found, Allowed: c.allowed[b], Where: c.where()}).public())
	}
	return found <= c.allowed[b]
}

// where names the item that is being read.
func (c *checker) where() string {
	if c.item == "" {
		return "the module"
	}
	return fmt.Sprintf("%s %d", c.item, c.index)
}
