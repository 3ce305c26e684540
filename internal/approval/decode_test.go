package approval

import (
	"bytes"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
)

// What is decoded can be encoded, and is the same again.
func FuzzDecode(f *testing.F) {
	r := Record{
		Digest: digestPrefix + string(bytes.Repeat([]byte("a"), 64)), Name: "notes", Asked: []Requested{{Capability: "kv"}},
		Policy: &policy.Policy{KV: &policy.KV{}}, When: time.Unix(1, 0).UTC(),
	}
	text, err := r.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":1}`))
	f.Add([]byte(`{"format":1,"policy":"version: \"1.0\"\npermissions: {}\n"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decode(text)
		if err != nil {
			return
		}
		first, err := r.encode()
		if err != nil {
			return // a year that JSON does not write
		}
		again, err := decode(first)
		if err != nil {
			t.Fatalf("%s\nis not read again: %v", first, err)
		}
		if second, err := again.encode(); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s\nbecomes\n%s\n%v", first, second, err)
		}
	})
}
