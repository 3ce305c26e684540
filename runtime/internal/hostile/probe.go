package hostile

import (
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// Probe returns a provider that asks every function it can import, in every phase, for what there is to get, and keeps
// what it gets. Each of its operations hands all of that to [abi.ServiceConfig] as a request of which it says nothing
// else, and a read pushes it as its contents too; then it forgets what it got in this operation, but keeps what it got
// while it started and was seeded. It writes its request to the log and, without the end of the line, to standard
// output and error.
//
// A URI that ends with e is answered by an error that quotes the request, one that ends with t by a trap, and one that
// ends with x by an exit. With boot it changes a table while it starts, so that each of its instances is booted.
func Probe(lifecycle abi.Lifecycle, boot bool) []byte {
	manifest := abi.Manifest{
		Name: "probe", Ops: 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete | 1<<abi.OpSubscribe | 1<<abi.OpUnsubscribe | 1<<abi.OpConfigure | 1<<abi.OpPoll,
		Limits: abi.ManifestLimits{Lifecycle: lifecycle},
	}
	head := (&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil)
	begin := cat(op(opGlobalGet, notesEnd), op(opEqz), op(opIf, empty), num(notesAt), op(opGlobalSet, notesEnd), op(opEnd))
	quiet := cat(begin, own(probeAll))
	p := &actor{
		manifest: manifest, globals: 3, acts: map[Phase][]byte{}, codes: map[Phase][]byte{},
		data:  [][]byte{active(headAt, head), active(quoteAt, quote())},
		funcs: [][]byte{body(nil, probes()), body(nil, reports())},
	}
	for _, phase := range Phases() {
		operation, ok := phase.Op()
		switch {
		case !ok: // where a body is refused, and does no harm
			p.acts[phase] = cat(quiet, num(probeAt), invoke("body", num(said), num(0)), op(opStore32, 0, 0), note(probeAt, 4))
		case operation == abi.OpDescribe || operation == abi.OpConfigure:
			p.acts[phase] = quiet
		default:
			p.acts[phase] = cat(begin, op(opGlobalGet, notesEnd), op(opGlobalSet, notesMark), own(probeAll), grows(), own(report))
			p.codes[phase] = cat(push(phase, len(head)), forget(), ending())
		}
	}
	if boot {
		p.tables = [][]byte{{funcref, 0, 1}}
		p.acts[PhaseStart] = cat(num(0), op(opRefNull, funcref), op(opTableSet, 0), quiet)
	}
	return p.module()
}

// Functions of a probe.
const (
	probeAll = iota // asks all
	report          // hands over what was got
)

// Globals of a probe.
const (
	notesEnd  = iota // where the next note goes; 0 before the first
	notesMark        // where the notes of this operation begin
	grownPage        // the number of the page by which memory has grown
)

// Where things lie in the memory of a probe.
const (
	headAt   = 12 << 10        // of a read's content
	quoteAt  = headAt + 1<<10  // of an error that quotes
	notesAt  = 64 << 10        // all that was got
	probeAt  = actorArea       // what a function is to write to
	probeLen = 128             // bytes of it that are kept as a note
	said     = actorArea + 512 // the beginning of the request
	saidLen  = 100             // bytes
)

// note appends bytes of memory to the notes.
func note(at, n int64) []byte {
	return cat(op(opGlobalGet, notesEnd), num(at), num(n), op(opBulk, bulkMemoryCopy, 0, 0), advance(num(n)))
}

// advance moves the end of the notes by a number on the stack.
func advance(n []byte) []byte {
	return cat(op(opGlobalGet, notesEnd), n, op(opAdd), op(opGlobalSet, notesEnd))
}

// takes notes all three channels, and one there is not.
func takes() (code []byte) {
	for channel := range int64(4) {
		code = cat(code, advance(invoke("take", num(channel), op(opGlobalGet, notesEnd), num(0), num(64<<10))))
	}
	return code
}

// grows makes memory grow by a page, notes what is at its beginning, and leaves the request there.
func grows() []byte {
	const kept = 4 << 10 // bytes
	place := cat(op(opGlobalGet, grownPage), num(16), op(opShl))
	return cat(num(1), op(opMemoryGrow, 0), op(opGlobalSet, grownPage),
		op(opGlobalGet, notesEnd), place, num(kept), op(opBulk, bulkMemoryCopy, 0, 0), advance(num(kept)),
		ignore("take", num(0), place, num(0), num(kept)))
}

// special are parameters with which functions have most to give. Others get the place to write to for each i32.
var special = map[string][]int64{
	"args_get": {probeAt, probeAt + 64}, "environ_get": {probeAt, probeAt + 64},
	"args_sizes_get": {probeAt, probeAt + 4}, "environ_sizes_get": {probeAt, probeAt + 4},
	"clock_res_get": {0, probeAt}, "clock_time_get": {0, 0, probeAt}, "random_get": {probeAt, probeLen},
	"fd_read": {0, probeAt, 1, probeAt + 8}, "fd_pread": {0, probeAt, 1, 0, probeAt + 8}, "fd_readdir": {3, probeAt, probeLen, 0, probeAt + 8},
	"fd_prestat_get": {3, probeAt}, "fd_prestat_dir_name": {3, probeAt, probeLen}, "fd_fdstat_get": {1, probeAt}, "fd_filestat_get": {0, probeAt},
	"poll_oneoff": {probeAt, probeAt + 64, 1, probeAt + 120}, "fd_write": {1, probeAt, 1, probeAt + 8},
}

// probes asks every function that may be asked in any phase. A body would fail an operation that has no content, and
// the functions that end a guest have nothing to give.
func probes() []byte {
	code := takes()
	for _, f := range hostFunctions {
		switch f.name {
		case "take", "emit", "body", "call", "log", "info", "abort", "proc_exit", "fd_write":
			continue
		}
		code = cat(code, asked(f))
	}
	for id := range int64(8) {
		code = cat(code, num(probeAt), invoke("info", num(id)), op(opStore64, 0, 0), note(probeAt, 8))
	}
	code = cat(code, num(probeAt), invoke("emit", num(said), num(0)), op(opStore32, 0, 0), note(probeAt, 4), written())
	for id := range int64(20) {
		if abi.Service(id) == abi.ServiceConfig {
			continue
		}
		code = cat(code, num(probeAt), invoke("call", num(id), num(said), num(0)), op(opStore64, 0, 0), note(probeAt, 8))
	}
	return cat(code, takes(), bulk(bulkMemoryFill, said, 0, saidLen, 0))
}

// asked calls one function with a vector of one buffer at the place to write to, which becomes a note.
func asked(f hostFunction) []byte {
	clean := bulk(bulkMemoryFill, probeAt, 0, probeLen, 0)
	vector := cat(num(probeAt), num(probeAt+16), op(opStore32, 0, 0), num(probeAt), num(64), op(opStore32, 0, 4))
	if strings.HasPrefix(f.name, "poll") {
		vector = nil // a subscription of zeros, which is a clock that has fired
	}
	values := special[f.name]
	var params [][]byte
	for i, t := range f.signature.Params {
		value := int64(probeAt)
		if values != nil {
			value = values[i]
		}
		if t == abi.I64 {
			params = append(params, cat(op(opConst64), s(0)))
			continue
		}
		params = append(params, num(value))
	}
	return cat(clean, vector, ignore(f.name, params...), note(probeAt, probeLen))
}

// written logs the beginning of the request in all ways there are. Output has no end of a line.
func written() []byte {
	vector := cat(num(probeAt), num(said), op(opStore32, 0, 0), num(probeAt), num(saidLen), op(opStore32, 0, 4))
	return cat(ignore("take", num(0), num(said), num(0), num(saidLen)), vector,
		ignore("fd_write", num(1), num(probeAt), num(1), num(probeAt+8)), ignore("fd_write", num(2), num(probeAt), num(1), num(probeAt+8)),
		invoke("log", num(abi.LogWarn), num(said), num(saidLen)))
}

// notes are all notes, as a place and a length.
func notes() []byte {
	return cat(num(notesAt), op(opGlobalGet, notesEnd), num(notesAt), op(opSub))
}

// reports hands the notes over, and notes the answer.
func reports() []byte {
	return cat(num(probeAt), num(int64(abi.ServiceConfig)), notes(), invoke("call"), op(opStore64, 0, 0), note(probeAt, 8), takes())
}

// push emits the notes as the content of a read, and of a poll none: its answer has no body.
func push(p Phase, head int) []byte {
	if p != PhaseRead {
		return nil
	}
	return cat(ignore("emit", num(headAt), num(int64(head))), notes(), ignore("body"))
}

// forget removes the notes of this operation.
func forget() []byte {
	length := cat(op(opGlobalGet, notesEnd), op(opGlobalGet, notesMark), op(opSub))
	return cat(op(opGlobalGet, notesMark), num(0), length, op(opBulk, bulkMemoryFill, 0), op(opGlobalGet, notesMark), op(opGlobalSet, notesEnd))
}

// quoted is how many bytes of the request an error quotes.
const quoted = 40

// quote is a frame with an error whose message has room for the quotation.
func quote() []byte {
	return (&abi.Reply{Error: &abi.GuestError{Message: strings.Repeat("-", quoted)}}).Append(nil)
}

// ending ends an operation as the last letter of its URI says, with a code. The beginning of memory, where the request
// was, is overwritten.
func ending() []byte {
	frame := int64(len(quote()))
	is := func(letter int64, code ...[]byte) []byte {
		return cat(op(opGlobalGet, notesMark), num(letter), op(opEq), op(opIf, empty), cat(code...), op(opEnd))
	}
	clean := bulk(bulkMemoryFill, 0, 0, 4096, 0)
	return cat(lastOfURI(), op(opGlobalSet, notesMark),
		is('t', op(opUnreachable)),
		is('x', invoke("proc_exit", num(0))),
		is('e', ignore("take", num(0), num(quoteAt+frame-quoted), num(0), num(quoted)),
			ignore("emit", num(quoteAt), num(frame)), clean, bulk(bulkMemoryFill, quoteAt+frame-quoted, 0, quoted, 0), num(int64(abi.CodeNotFound)), op(opReturn)),
		clean, num(0))
}
