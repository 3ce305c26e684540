// The guest for wasmres, and for wazero as it comes: it speaks wasmres_v1 without an SDK, so that sandboxes are compared.
package main

import (
	"strconv"
	"unsafe"

	"github.com/wasmres/wasmres/internal/peers/answer"
)

//go:wasmimport wasmres_v1 take
func take(channel uint32, dst unsafe.Pointer, off, n uint32) uint32

//go:wasmimport wasmres_v1 emit
func emit(frame unsafe.Pointer, n uint32) int32

var in, out [4096]byte

// static is the reply to text://a: a content of 124 bytes with its URI, its type and its text of 100.
const static = "\x1a\x7c" + "\x0a\x08text://a" + "\x12\x0atext/plain" + "\x1a\x64" + answer.Text

//go:wasmexport wasmres_v1_warm
func warm() { answer.Warm() }

//go:wasmexport wasmres_v1
func serve(op, n uint32) uint32 {
	if op != 2 {
		return 8
	}
	take(0, unsafe.Pointer(&in), 0, n)
	uri := in[2 : 2+in[1]] // the first field, of fewer than 128 bytes
	text := answer.To(uri)
	if uri[0] == 't' {
		emit(unsafe.Pointer(unsafe.StringData(static)), uint32(len(static)))
		return 0
	}
	frame := reply(uri, text)
	emit(unsafe.Pointer(&frame[0]), uint32(len(frame)))
	return 0
}

// reply makes a frame in the static buffer. The lengths that may be over 127 have two bytes.
func reply(uri []byte, text string) []byte {
	b := append(out[:0], 3<<3|2, 0, 0)
	b = append(append(b, 1<<3|2, byte(len(uri))), uri...)
	b = append(b, "\x12\x0atext/plain"...)
	b = append(append(b, 3<<3|2, byte(len(text))|128, byte(len(text)>>7)), text...)
	b[1], b[2] = byte(len(b)-3)|128, byte((len(b)-3)>>7)
	return b
}

// kib is the size of the document, set by the linker.
var kib string

func init() {
	if n, err := strconv.Atoi(kib); err == nil {
		answer.Prepare(n)
	}
}

func main() {}
