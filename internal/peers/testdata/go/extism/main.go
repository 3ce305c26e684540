// The guest for Extism. What its PDK would do is written out: Extism's memory is read and written through calls of the
// host, eight bytes at a time.
package main

import (
	"encoding/binary"
	"strconv"

	"github.com/wasmres/wasmres/internal/peers/answer"
)

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env input_load_u8
func inputLoadU8(at uint64) uint32

//go:wasmimport extism:host/env input_load_u64
func inputLoadU64(at uint64) uint64

//go:wasmimport extism:host/env alloc
func alloc(n uint64) uint64

//go:wasmimport extism:host/env store_u8
func storeU8(at uint64, v uint32)

//go:wasmimport extism:host/env store_u64
func storeU64(at uint64, v uint64)

//go:wasmimport extism:host/env output_set
func outputSet(at, n uint64)

var in [4096]byte

//go:wasmexport read
func read() int32 {
	output(answer.To(input()))
	return 0
}

func input() []byte {
	n := inputLength()
	at := uint64(0)
	for ; at+8 <= n; at += 8 {
		binary.LittleEndian.PutUint64(in[at:], inputLoadU64(at))
	}
	for ; at < n; at++ {
		in[at] = byte(inputLoadU8(at))
	}
	return in[:n]
}

func output(s string) {
	n := uint64(len(s))
	to := alloc(n)
	at := uint64(0)
	for ; at+8 <= n; at += 8 {
		storeU64(to+at, eight(s[at:]))
	}
	for ; at < n; at++ {
		storeU8(to+at, uint32(s[at]))
	}
	outputSet(to, n)
}

func eight(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// kib is the size of the document, set by the linker.
var kib string

func init() {
	if n, err := strconv.Atoi(kib); err == nil {
		answer.Prepare(n)
	}
}

func main() {}
