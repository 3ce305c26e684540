// The guest of the tests and benchmarks: work as providers do it.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

func main() {}

// format is a small read: a few formatted lines.
//
//go:wasmexport format
func format(n int32) int32 {
	text := fmt.Sprintf("# Resource %d\n\nIt is %q and has %d lines.\n%v\n", n, "formatted", 4, []int32{n, n + 1})
	return int32(len(text))
}

// encode is JSON both ways.
//
//go:wasmexport encode
func encode(n int32) int32 {
	text, _ := json.Marshal(map[string]any{"name": "x", "count": n, "list": []int32{1, 2, n}, "nested": map[string]string{"a": "b"}})
	var back map[string]any
	if json.Unmarshal(text, &back) != nil {
		return -1
	}
	return int32(len(text) + len(back))
}

// search goes through text, sorts and compresses.
//
//go:wasmexport search
func search(n int32) int32 {
	words := strings.Fields(strings.Repeat("the quick brown fox jumps over the lazy dog ", int(n)))
	sort.Strings(words)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, strings.Join(words, " "))
	w.Close()
	return int32(packed.Len())
}
