package abi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wasmres/wasmres/abi"
)

func FuzzRequest(f *testing.F)      { fuzzMessage(f, "Request") }
func FuzzReply(f *testing.F)        { fuzzMessage(f, "Reply") }
func FuzzManifest(f *testing.F)     { fuzzMessage(f, "Manifest") }
func FuzzFileResponse(f *testing.F) { fuzzMessage(f, "FileResponse") }
func FuzzFileRequest(f *testing.F)  { fuzzMessage(f, "FileRequest") }
func FuzzKVRequest(f *testing.F)    { fuzzMessage(f, "KVRequest") }
func FuzzHTTPRequest(f *testing.F)  { fuzzMessage(f, "HTTPRequest") }
func FuzzSQLRequest(f *testing.F)   { fuzzMessage(f, "SQLRequest") }
func FuzzSQLResponse(f *testing.F)  { fuzzMessage(f, "SQLResponse") }

// fuzzMessage holds a decoder to what it promises of foreign bytes: no panic, classified errors, and whatever it
// accepts is the same after a round trip, in no more bytes.
func fuzzMessage(f *testing.F, message string) {
	for _, v := range vectors() {
		if v.message == message {
			f.Add(v.bytes())
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		original := bytes.Clone(b)
		m, err := decodeAs(message, b)
		if !bytes.Equal(b, original) {
			t.Fatal("decoding changed the bytes")
		}
		if err != nil {
			if abi.CodeOf(err) == abi.CodeInternal || len(err.Error()) > 512 {
				t.Fatalf("got %q, want a short classified error", err)
			}
			return
		}
		again := encode(m)
		if len(again) > len(b) {
			t.Fatalf("%d bytes became %d", len(b), len(again))
		}
		twin, err := decodeAs(message, again)
		if err != nil {
			t.Fatalf("encoded again it is refused: %v", err)
		}
		if !cmp.Equal(m, twin, cmpopts.EquateNaNs()) {
			t.Fatalf("round trip (-first +second):\n%s", diff(m, twin))
		}
		if third := encode(twin); !bytes.Equal(again, third) {
			t.Fatalf("two encodings: %x and %x", again, third)
		}
	})
}

func FuzzCheckJSONObject(f *testing.F) {
	for _, s := range []string{
		"", "{}", " {} ", "[]", "null", `{"a":[1,{"b":"}\\\""}]}`, "{}{}", "{\"\xff\":0}", `{"a":"\ud800"}`,
		strings.Repeat(`{"a":`, 31) + "{}" + strings.Repeat("}", 31), strings.Repeat("[", 40),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		err := abi.CheckJSONObject("x", s)
		if want := s == "" || len(s) <= abi.MaxMeta && utf8.ValidString(s) && isShallowObject(s); (err == nil) != want {
			t.Fatalf("got %v, want accepted %v", err, want)
		}
	})
}

// isShallowObject reads token by token where CheckJSONObject counts braces.
func isShallowObject(s string) bool {
	if !json.Valid([]byte(s)) {
		return false
	}
	d := json.NewDecoder(strings.NewReader(s))
	for depth, first := 0, true; ; first = false {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return true
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if err != nil || depth > 32 || first && token != json.Delim('{') {
			return false
		}
	}
}
