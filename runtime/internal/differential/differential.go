package differential

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Bounds of each call.
const (
	fuelOfCall  = 20_000
	stackOfCall = 256 << 10
	maxPages    = 64
	maxTable    = 1 << 12
)

// Engines are all engines of this program, also as workers run them. They belong to one goroutine at a time.
type Engines struct {
	kinds []engines.Kind
	open  []engine.Engine
}

// Open opens the engines. The caller closes them.
func Open() (*Engines, error) {
	e := &Engines{}
	all := engines.All()
	for _, kind := range engines.All() {
		if inWorker := kind.InWorker(); inWorker != kind {
			all = append(all, inWorker)
		}
	}
	for _, kind := range all {
		one, err := kind.Open(engine.Config{})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", kind, err), e.Close())
		}
		e.kinds, e.open = append(e.kinds, kind), append(e.open, one)
	}
	return e, nil
}

// Len returns how many engines there are.
func (e *Engines) Len() int { return len(e.open) }

// Close closes the engines.
func (e *Engines) Close() error {
	var errs []error
	for _, one := range e.open {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// ErrRefused is in the chain of the error for a module that no engine would be given.
var ErrRefused = errors.New("the module is refused")

// Endings count calls by how they ended: by the reason of the trap, with [Returned] for those that returned.
type Endings map[string]int

// Returned is the ending of calls without a trap.
const Returned = "returned"

// Add adds other endings.
func (e Endings) Add(more Endings) {
	for ending, n := range more {
		e[ending] += n
	}
}

// Calls returns how many calls there were.
func (e Endings) Calls() (n int) {
	for _, one := range e {
		n += one
	}
	return n
}

// Compare calls each exported function of a module a number of times, with other arguments each time, on each engine. It returns
// how the calls ended, and an error that describes the first difference. Functions with vectors or references as parameters or
// results are left out.
func (e *Engines) Compare(ctx context.Context, binary []byte, rounds int) (endings Endings, err error) {
	endings = Endings{}
	report, err := admit.Check(binary, admit.Config{MemoryPages: maxPages, Imports: imports()})
	if err != nil {
		return endings, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	code, err := meter.Rewrite(binary, meter.Config{MemoryPages: maxPages, TableEntries: maxTable, Frames: report.Frames})
	if err != nil {
		return endings, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	var guests []*guest
	defer func() {
		for _, g := range guests {
			err = errors.Join(err, g.close())
		}
	}()
	for i, one := range e.open {
		g, err := start(ctx, e.kinds[i], one, code)
		if err != nil {
			return endings, fmt.Errorf("%s: %w", e.kinds[i], err)
		}
		guests = append(guests, g)
	}
	if code.Start {
		if err := same(ctx, guests, endings, meter.ExportStart, abi.Signature{}, nil); err != nil {
			return endings, err
		}
	}
	for _, name := range functions(report) {
		for round := range rounds {
			sig := report.Exports[name]
			if err := same(ctx, guests, endings, name, sig, arguments(name, round, len(sig.Params))); err != nil {
				return endings, err
			}
		}
	}
	return endings, nil
}

// functions returns the exported functions of numbers, sorted.
func functions(report *admit.Report) (names []string) {
	for name, sig := range report.Exports {
		if len(sig.Params) <= 8 && len(sig.Results) <= 8 && !slices.ContainsFunc(slices.Concat(sig.Params, sig.Results), isNoNumber) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func isNoNumber(t abi.ValueType) bool { return t < abi.ValueType(wasm.F64) }

// arguments returns arguments that look random, and are small, large and special numbers now and then.
func arguments(name string, round, n int) []uint64 {
	sum := fnv.New64a()
	fmt.Fprint(sum, name, round)
	args := make([]uint64, n)
	for i := range args {
		sum.Write([]byte{byte(i)})
		switch v := sum.Sum64(); v >> 60 {
		case 0, 1, 2:
			args[i] = v >> 8 & 0xff
		case 3:
			args[i] = math.MaxUint64
		case 4:
			args[i] = 1<<63 | 1<<31
		case 5:
			args[i] = math.Float64bits(float64(int32(v)) / 7)
		case 6:
			args[i] = uint64(math.Float32bits(float32(int16(v)) / 7))
		default:
			args[i] = v
		}
	}
	return args
}

// same calls a function on all guests, counts how that ended, and returns an error if they differ afterwards.
func same(ctx context.Context, guests []*guest, endings Endings, export string, sig abi.Signature, args []uint64) error {
	first := guests[0].call(ctx, export, sig, args)
	endings[cmp.Or(first.reason, Returned)]++
	for _, g := range guests[1:] {
		if got := g.call(ctx, export, sig, args); !got.equal(first) {
			return fmt.Errorf("%s%x: %s: %v, %s: %v", export, args, guests[0].kind, first, g.kind, got)
		}
		if !bytes.Equal(g.memory.Bytes(), guests[0].memory.Bytes()) {
			return fmt.Errorf("%s%x: the memories of %s and %s differ", export, args, guests[0].kind, g.kind)
		}
		for i := range g.globals {
			if a, b := guests[0].globals[i].Get(), g.globals[i].Get(); a != b {
				return fmt.Errorf("%s%x: global %d: %s: %x, %s: %x", export, args, i, guests[0].kind, a, g.kind, b)
			}
		}
	}
	return nil
}
