package abi_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

// fill repeats a field until a message has at most size bytes.
func fill(field []byte, size int) []byte { return bytes.Repeat(field, size/len(field)) }

// TestDecodersAllocateLittle holds decoders to what hostile bytes may cost: all that a message makes them allocate,
// garbage included, stays within 100 bytes for each of the message's, and within 40 MiB.
func TestDecodersAllocateLittle(t *testing.T) {
	const mib = 1 << 20
	icon := lengthened(10, fill([]byte{0x1a, 0}, 32))                               // 16 empty sizes
	resource := lengthened(1, bytes.Repeat(icon, 16))                               // 16 such icons
	small := lengthened(1, bytes.Repeat([]byte{0x52, 0}, 16))                       // 16 empty icons
	static := lengthened(7, bytes.Repeat([]byte{0x52, 0}, 16))                      // the same in a manifest
	template := lengthened(6, fill(icon, 16*len(icon)), fill([]byte{0x62, 0}, 128)) // and 64 completed variables
	for name, c := range map[string]struct {
		message string
		bytes   []byte
	}{
		"empty resources":          {"Reply", fill([]byte{0x0a, 0}, mib)},
		"resources of icons":       {"Reply", fill(resource, mib)},
		"resources of empty icons": {"Reply", fill(small, mib)},
		"ten thousand resources":   {"Reply", bytes.Repeat(small, 10_000)},
		"empty templates":          {"Reply", fill([]byte{0x12, 0}, mib)},
		"empty contents":           {"Reply", fill([]byte{0x1a, 0}, mib)},
		"empty errors":             {"Reply", fill([]byte{0x2a, 0}, mib)},
		"empty completions":        {"Reply", fill([]byte{0x32, 0}, mib)},
		"empty manifests":          {"Reply", fill([]byte{0x4a, 0}, mib)},
		"empty progress":           {"Reply", fill([]byte{0x7a, 0}, mib)},
		"short cursors":            {"Reply", fill([]byte{0x22, 1, 'c'}, mib)},
		"long cursors":             {"Reply", fill(lengthened(4, bytes.Repeat([]byte{'c'}, 1025)), mib)},
		"middling cursors":         {"Reply", fill(lengthened(4, bytes.Repeat([]byte{'c'}, 1024)), mib)},
		"one long name":            {"Reply", lengthened(1, lengthened(2, bytes.Repeat([]byte{'n'}, mib-20)))},
		"unknown fields":           {"Reply", fill([]byte{0xf8, 1, 1}, mib)},
		"manifest in a reply":      {"Reply", lengthened(9, bytes.Repeat(static, 10_000), bytes.Repeat(template, 256))},
		"manifest of resources":    {"Manifest", bytes.Repeat(static, 10_000)},
		"manifest of templates":    {"Manifest", bytes.Repeat(template, 256)},
		"manifest of limits":       {"Manifest", fill([]byte{0x52, 0}, mib)},
		"vars":                     {"Request", fill([]byte{0x1a, 0}, abi.MaxRequest)},
		"principals":               {"Request", fill([]byte{0x62, 2, 0x1a, 0}, abi.MaxRequest)},
		"files":                    {"FileResponse", fill([]byte{0x0a, 0}, mib)},
		"keys":                     {"KVResponse", fill([]byte{0x0a, 0}, mib)},
		"header fields":            {"HTTPRequest", fill([]byte{0x1a, 0}, mib)},
		"arguments":                {"SQLRequest", fill([]byte{0x1a, 0}, mib)},
		"rows":                     {"SQLResponse", fill([]byte{0x12, 0}, mib)},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.bytes) > mib {
				t.Fatalf("the input has %d bytes", len(c.bytes))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := decodeAndDrop(c.message, c.bytes)
			runtime.ReadMemStats(&after)
			got := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes made %d (%.1f each), %v", len(c.bytes), got, float64(got)/float64(len(c.bytes)), err)
			if limit := uint64(min(100*len(c.bytes), 40<<20)); got > limit {
				t.Errorf("allocated %d bytes, at most %d are allowed", got, limit)
			}
		})
	}
}

func decodeAndDrop(message string, b []byte) error {
	if message == "Reply" {
		return new(abi.Reply).Merge(b, 10_000, discard{})
	}
	_, err := decodeAs(message, b)
	return err
}
