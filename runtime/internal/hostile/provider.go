package hostile

import (
	"bytes"
	"embed"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A shape is a provider that attacks, in the binary format. When the URI it reads ends with the letter o it answers
// like an honest one, whatever else it would do.
type shape struct {
	types    [][]byte // from index firstType on
	funcs    []function
	tables   [][]byte // type and limits
	memory   []byte   // limits; nil for a page without an upper bound
	globals  [][]byte
	exports  [][]byte
	elements [][]byte
	data     [][]byte // from index 1 on; the sections get a count
	locals   []byte   // groups of the handler
	tail     []byte   // sections at the end

	silent bool  // the handler gives no honest answer after its attack
	code   int64 // what the handler returns after it

	// Where it attacks. Each takes nothing from the stack and leaves nothing there.
	call       []byte // in an operation
	start      []byte // in the start section
	initialize []byte // in _initialize
}

// A function of a shape.
type function struct {
	kind int // its type
	body []byte
}

// Types every shape has.
const (
	typeEmit  = iota // (i32, i32) -> i32, which is that of the handler too
	typeVoid         // () -> ()
	typeTake         // (i32, i32, i32, i32) -> i32
	typeLog          // (i32, i32, i32) -> ()
	typeInfo         // (i32) -> i64
	firstType        // the first of a shape's own
)

// Functions every shape has.
const (
	funcTake = iota
	funcEmit
	funcLog
	funcInfo
	funcHandler
	funcStart
	funcInitialize
	firstFunc // the first of a shape's own
)

const replyAt = 1024 // where the honest answer lies in memory

var (
	fine     = (&abi.Content{URI: "x:o", Kind: abi.KindText, Inline: []byte("fine")}).Append(nil)
	manifest = abi.Manifest{Name: "hostile", Ops: 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete | 1<<abi.OpListDir}
)

// raw returns the module as it is, which has to be asked for its manifest.
func (p shape) raw() []byte {
	types := append([][]byte{
		funcType([]byte{i32, i32}, []byte{i32}), funcType(nil, nil), funcType([]byte{i32, i32, i32, i32}, []byte{i32}),
		funcType([]byte{i32, i32, i32}, nil), funcType([]byte{i32}, []byte{i64}),
	}, p.types...)
	imports := [][]byte{
		hostFunc(abi.ImportTake, typeTake), hostFunc(abi.ImportEmit, typeEmit),
		hostFunc(abi.ImportLog, typeLog), hostFunc(abi.ImportInfo, typeInfo),
	}
	exports := append([][]byte{
		cat(name(abi.ExportMemory), []byte{2, 0}), cat(name(abi.ExportCall), []byte{0, funcHandler}),
		cat(name(abi.ExportInitialize), []byte{0, funcInitialize}),
	}, p.exports...)
	kinds := [][]byte{u(typeEmit), u(typeVoid), u(typeVoid)}
	bodies := [][]byte{p.handler(), body(p.groupsOf(p.start), p.start), body(p.groupsOf(p.initialize), p.initialize)}
	for _, f := range p.funcs {
		kinds, bodies = append(kinds, u(uint64(f.kind))), append(bodies, f.body)
	}
	memory := p.memory
	if memory == nil {
		memory = []byte{0, 1}
	}
	data := append([][]byte{cat([]byte{0}, num(replyAt), []byte{opEnd}, sized(fine))}, p.data...)
	return layout{
		types: types, imports: imports, kinds: kinds, tables: p.tables, memory: memory, globals: p.globals, exports: exports,
		start: u(funcStart), elements: p.elements, bodies: bodies, data: data, tail: p.tail,
	}.bytes()
}

// groupsOf returns the handler's locals to other attacks as well.
func (p shape) groupsOf(attack []byte) []byte {
	if attack == nil {
		return nil
	}
	return p.locals
}

// handler takes the request, answers when the URI ends with o, and attacks otherwise. The URI is field 1, so its
// length is byte 1 and its end that many bytes further.
func (p shape) handler() []byte {
	answer := cat(num(replyAt), num(int64(len(fine))), op(opCall, funcEmit), op(opDrop))
	after := answer
	if p.silent {
		after = nil
	}
	end := cat(num(1), num(1), op(opLoad8, 0, 0), op(opAdd), op(opLoad8, 0, 0))
	return body(p.locals,
		num(0), num(0), num(0), num(1000), op(opCall, funcTake), op(opDrop),
		end, num('o'), op(opEq), []byte{opIf, empty}, answer, num(0), op(opReturn), op(opEnd),
		p.call, after, num(p.code))
}

func hostFunc(function string, kind uint64) []byte {
	return cat(name(abi.ImportModule), name(function), []byte{0}, u(kind))
}

// module returns the shape with its manifest packed in.
func (p shape) module() []byte { return packed(p.raw()) }

// packed returns a module with a manifest, so that it is loaded without being asked.
func packed(binary []byte) []byte {
	b, err := wasm.WithCustom(binary, abi.ManifestSection, manifest.Append(nil))
	if err != nil {
		panic(err) // only modules whose sections can be told apart are packed
	}
	return b
}

// shapes makes the modules of a case out of shapes.
func shapes(list ...func() shape) func() [][]byte {
	return func() [][]byte {
		var out [][]byte
		for _, f := range list {
			out = append(out, f().module())
		}
		return out
	}
}

// one makes the module of a case out of a shape.
func one(p func() shape) func() [][]byte { return shapes(p) }

// bare makes the modules of a case out of their bytes.
func bare(modules ...[]byte) func() [][]byte {
	return func() [][]byte { return bytesOf(modules) }
}

func bytesOf(modules [][]byte) [][]byte {
	out := make([][]byte, len(modules))
	for i, m := range modules {
		out[i] = bytes.Clone(m)
	}
	return out
}

// texts are the modules that were made from WebAssembly text.
//
//go:embed modules/*.wasm
var texts embed.FS

// file reads modules of texts and packs a manifest into those that have none.
func file(names ...string) func() [][]byte {
	return func() [][]byte {
		var out [][]byte
		for _, n := range names {
			out = append(out, packed(read(n)))
		}
		return out
	}
}

// asking reads a module of texts that is to be asked for its manifest.
func asking(name string) func() [][]byte {
	return func() [][]byte { return [][]byte{read(name)} }
}

func read(name string) []byte {
	b, err := texts.ReadFile("modules/" + name)
	if err != nil {
		panic(err) // a corpus with holes proves nothing
	}
	return b
}
