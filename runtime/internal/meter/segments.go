package meter

import "github.com/wasmres/wasmres/runtime/wasm"

// A Segment is an active data segment. If it exceeds the memory, even with no bytes, loading the module must fail.
type Segment struct {
	Offset uint32
	Bytes  []byte // a view of the module
}

// passive is the flag of a data segment that is not active, and bit 0 of that of an element segment.
const passive = 1

// data removes the active segments. Segments that instructions refer to keep their index: an empty passive one replaces
// an active one, which would be dropped once written; memory.init can take nothing from either. If the offset of any is
// not a plain number all stay, since their order counts.
func (w *writer) data() error {
	plain := true
	if err := w.each(wasm.SectionData, func(r *wasm.Reader) {
		plain = w.placement(r).plain && plain
		r.Bytes(r.U32())
	}); err != nil {
		return err
	}
	v := &w.vectors[wasm.SectionData]
	if !plain {
		r := w.reader(wasm.SectionData)
		*v = vector{count: r.U32(), items: r.Bytes(uint32(r.Len()))}
		return nil
	}
	return w.each(wasm.SectionData, func(r *wasm.Reader) {
		place := w.placement(r)
		bytes := r.Bytes(r.U32())
		if place.active {
			w.module.Data = append(w.module.Data, Segment{Offset: place.offset, Bytes: bytes})
			bytes = nil
		}
		if w.indexed {
			v.count++
			v.items = append(wasm.AppendU32(append(v.items, passive), uint32(len(bytes))), bytes...)
		}
	})
}

// A placement is the head of a data segment.
type placement struct {
	active bool
	plain  bool // passive, or the offset is a number
	offset uint32
}

func (w *writer) placement(r *wasm.Reader) placement {
	const explicit = 2
	flag := r.U32()
	if flag == passive {
		return placement{plain: true}
	}
	if flag == explicit {
		r.U32() // the memory
	}
	var number, end wasm.Instruction
	if r.Next(&number) && number.Op != wasm.OpEnd && r.Next(&end) && end.Op != wasm.OpEnd {
		w.constant(r, nil)
	}
	plain := number.Op == wasm.OpI32Const && end.Op == wasm.OpEnd
	return placement{active: true, plain: plain, offset: uint32(number.Value)}
}

// elements renumbers the functions in element segments.
func (w *writer) elements() error {
	v := &w.vectors[wasm.SectionElement]
	return w.each(wasm.SectionElement, func(r *wasm.Reader) { v.add(w.element(r)) })
}

func (w *writer) element(r *wasm.Reader) []byte {
	const explicit, expressions = 2, 4 // an active one names its table, any other its type; items are expressions
	flag := r.U32()
	out := wasm.AppendU32(nil, flag)
	var table uint32
	var place wasm.Instruction
	if flag&passive == 0 {
		if flag&explicit != 0 {
			table = r.U32()
			out = wasm.AppendU32(out, table)
		}
		ahead := *r
		ahead.Next(&place)
		out = w.constant(r, out)
	}
	if flag&(passive|explicit) != 0 {
		out = append(out, r.Byte()) // the kind or the type
	}
	n := r.U32()
	if flag&passive == 0 {
		w.checkElements(table, &place, n)
	}
	out = wasm.AppendU32(out, n)
	for ; n > 0 && r.Err() == nil; n-- {
		if flag&expressions != 0 {
			out = w.constant(r, out)
		} else {
			out = wasm.AppendU32(out, w.function(r.U32()))
		}
	}
	return out
}
