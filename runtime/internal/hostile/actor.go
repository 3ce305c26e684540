package hostile

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/wasi"
)

// An actor is a provider that runs code of its choice in some phases and does what an honest one would in all others. It
// imports every function there is. Its manifest is not packed in, so that the host asks for it.
//
// The code of a phase takes nothing from the stack and leaves nothing there. It has no locals, since phases have different
// parameters, but the globals of the actor. Its memory begins with 64 pages without a maximum.
type actor struct {
	manifest  abi.Manifest
	acts      map[Phase][]byte
	afterStop []byte           // what it does in abi.ExportStopped; nil for an actor without
	codes     map[Phase][]byte // what an operation answers, as an expression; it is honest where there is none
	funcs     [][]byte         // bodies of further functions without parameters and results; see own
	tables    [][]byte
	elements  [][]byte
	globals   int // how many it has, of type i32, which begin with 0
	data      [][]byte
}

// Where things lie in the memory of an actor.
const (
	actorFrames = 8 << 10  // what honest answers emit
	actorArea   = 16 << 10 // an act's own
	actorPages  = 64
)

// A hostFunction is one that a guest may import.
type hostFunction struct {
	module, name string
	signature    abi.Signature
}

// hostFunctions are all of them; their names are unique.
var hostFunctions = func() (all []hostFunction) {
	offered := abi.Imports()
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		all = append(all, hostFunction{abi.ImportModule, name, offered[name]})
	}
	system := wasi.Functions()
	slices.SortFunc(system, func(a, b engine.HostFunc) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range system {
		all = append(all, hostFunction{f.Module, f.Name, f.Type})
	}
	return append(all, hostFunction{"env", "abort", abi.Signature{Params: []abi.ValueType{abi.I32, abi.I32, abi.I32, abi.I32}}})
}()

// Types of an actor's own functions, behind those of its imports.
var (
	actorHandler = len(hostFunctions)
	actorVoid    = actorHandler + 1
	actorSeed    = actorVoid + 1
)

// Own functions of every actor, by index behind the imports.
const (
	actsHandler = iota
	actsStart
	actsInitialize
	actsWarm
	actsSeed
	actsFirst // of funcs
)

// own calls one of an actor's funcs.
func own(i int) []byte { return op(opCall, uint64(len(hostFunctions)+actsFirst+i)) }

// invoke calls a host function, whose results stay on the stack.
func invoke(name string, params ...[]byte) []byte {
	for i, f := range hostFunctions {
		if f.name == name {
			return cat(cat(params...), op(opCall, uint64(i)))
		}
	}
	panic("no host function " + name) // a corpus with holes proves nothing
}

// ignore calls a host function that has a result, and drops it.
func ignore(name string, params ...[]byte) []byte { return cat(invoke(name, params...), op(opDrop)) }

// module returns the actor's module.
func (a *actor) module() []byte {
	l := layout{memory: cat([]byte{0}, u(actorPages)), tables: a.tables, elements: a.elements, start: u(a.index(actsStart))}
	for i, f := range hostFunctions {
		l.types = append(l.types, funcType(bytesOfTypes(f.signature.Params), bytesOfTypes(f.signature.Results)))
		l.imports = append(l.imports, cat(name(f.module), name(f.name), []byte{0}, u(uint64(i))))
	}
	l.types = append(l.types, right, funcType(nil, nil), funcType([]byte{i64}, nil))
	l.exports = [][]byte{cat(name(abi.ExportMemory), []byte{2, 0})}
	define := func(export string, kind int, code []byte) {
		if export != "" {
			l.exports = append(l.exports, cat(name(export), []byte{0}, u(a.index(len(l.kinds)))))
		}
		l.kinds, l.bodies = append(l.kinds, u(uint64(kind))), append(l.bodies, code)
	}
	define(abi.ExportCall, actorHandler, a.handler(&l))
	define("", actorVoid, body(nil, a.acts[PhaseStart]))
	define(abi.ExportInitialize, actorVoid, body(nil, a.acts[PhaseInitialize]))
	define(abi.ExportWarm, actorVoid, body(nil, a.acts[PhaseWarm]))
	define(abi.ExportSeed, actorSeed, body(nil, a.acts[PhaseSeed]))
	for _, f := range a.funcs {
		define("", actorVoid, f)
	}
	if a.afterStop != nil {
		define(abi.ExportStopped, actorVoid, body(nil, a.afterStop))
	}
	for range a.globals {
		l.globals = append(l.globals, cat([]byte{i32, 1}, num(0), op(opEnd)))
	}
	l.data = append(l.data, a.data...)
	return l.bytes()
}

func (a *actor) index(own int) uint64 { return uint64(len(hostFunctions) + own) }

func bytesOfTypes(types []abi.ValueType) []byte {
	b := make([]byte, len(types))
	for i, t := range types {
		b[i] = byte(t)
	}
	return b
}

// handler answers operations: it acts first, where there is an act, and then emits an honest answer. A read of a URI that
// ends with the letter o is honest from the beginning. Its frames become data of the layout.
func (a *actor) handler(l *layout) []byte {
	var code []byte
	for _, p := range Phases() {
		operation, ok := p.Op()
		if !ok {
			continue
		}
		act := a.acts[p]
		if p == PhaseRead && act != nil {
			act = cat(lastOfURI(), num('o'), op(opEq), op(opEqz), op(opIf, empty), act, op(opEnd))
		}
		answer := a.codes[p]
		if answer == nil {
			answer = cat(a.honest(l, p), num(0))
		}
		code = cat(code, op(opLocalGet, 0), num(int64(operation)), op(opEq), op(opIf, empty), act, answer, op(opReturn), op(opEnd))
	}
	return body(nil, code, num(int64(abi.CodeUnsupported)))
}

// lastOfURI is the last byte of the URI of the request, which is put at the beginning of memory: it is the first field, with
// its length in one byte.
func lastOfURI() []byte {
	return cat(ignore("take", num(0), num(0), num(0), num(128)), num(1), num(1), op(opLoad8, 0, 0), op(opAdd), op(opLoad8, 0, 0))
}

// honest emits the frame that answers an operation, if there is any.
func (a *actor) honest(l *layout, p Phase) []byte {
	var frame []byte
	switch p {
	case PhaseDescribe:
		frame = (&abi.Reply{Manifest: &a.manifest}).Append(nil)
	case PhaseList:
		frame = (&abi.Reply{Resources: []abi.Resource{{URI: "x:o", Name: "o", Priority: math.NaN()}}}).Append(nil)
	case PhaseRead, PhasePoll:
		frame = fine
	case PhaseComplete:
		frame = (&abi.Reply{Completions: []string{"o"}}).Append(nil)
	default:
		return nil
	}
	at := int64(actorFrames)
	for _, d := range l.data {
		at += int64(len(d))
	}
	l.data = append(l.data, active(at, frame))
	return ignore("emit", num(at), num(int64(len(frame))))
}

// active is a data segment for a place in memory.
func active(at int64, b []byte) []byte { return cat([]byte{0}, num(at), op(opEnd), sized(b)) }
