package textenc_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/textenc"
)

// stretched is p somewhere in a longer text, once or until there are some kilobytes of it.
func stretched(p []byte, r *rand.Rand) []byte {
	var out []byte
	for times := []int{200, 4, 4, 1}[min(r.IntN(16), 3)]; times > 0 && len(out) < 10<<10; times-- {
		out = append(out, "0123456789 the quick brown fox jumps over the lazy dog 日本語日本語日本語"[:r.IntN(60)]...)
		out = append(out, p...)
	}
	return out
}

// pieces cuts p, and calls each with one piece after the other.
func pieces(p []byte, r *rand.Rand, each func(piece []byte)) {
	for most := 1 + r.IntN(len(p)+1); len(p) > 0; {
		n := min(r.IntN(most+1), len(p))
		each(p[:n])
		p = p[n:]
	}
}

// FuzzText holds the encoders, whole and in pieces, to a simple one, to encoding/json and to unicode/utf8, and watches
// what they write to.
func FuzzText(f *testing.F) {
	f.Add([]byte("plain"), uint64(1))
	f.Add([]byte("é日本😀\ufffd \"\\\n\x00\x7f"), uint64(2))
	f.Add([]byte("a\xffb\xe6\x97"), uint64(3))
	f.Add([]byte("\xed\xa0\x80\xf0\x9f\x98"), uint64(4))
	f.Add([]byte("\x01\x02\x1f\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\"), uint64(5))
	f.Fuzz(func(t *testing.T, p []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		p = stretched(p, r)
		want, valid := scalar(p)
		if valid != utf8.Valid(p) {
			t.Fatalf("the simple encoder says %v of %q", valid, p)
		}
		for _, e := range encoders {
			for _, room := range []int{len(want), len(want) + r.IntN(300), r.IntN(len(want) + 1)} {
				a := newArena(r.IntN(64), room)
				out, ok := e.text(a.dst, p)
				if ok != valid {
					t.Fatalf("%s: got %v for %q, want %v", e.name, ok, p, valid)
				}
				if ok {
					a.check(t, e.name, out, want)
				}
				a.untouched(t, e.name, a.start+cap(a.dst))
				quoted := newArena(r.IntN(64), room+2)
				quoted.check(t, e.name, e.str(quoted.dst, string(p)), []byte(`"`+string(want)+`"`))
			}
		}
		inPieces(t, p, want, valid, r)
		asJSON(t, p)
	})
}

func inPieces(t *testing.T, p, want []byte, valid bool, r *rand.Rand) {
	t.Helper()
	var text textenc.Text
	var got []byte
	ok := true
	pieces(p, r, func(piece []byte) {
		if ok {
			got, ok = text.Append(got, piece)
		}
	})
	ok = text.End() && ok
	if ok != valid || ok && !bytes.Equal(got, want) {
		t.Fatalf("got %q, %v in pieces, want %q, %v", got, ok, want, valid)
	}
}

func asJSON(t *testing.T, p []byte) {
	t.Helper()
	var back, want string
	if err := json.Unmarshal(textenc.AppendString(nil, string(p)), &back); err != nil {
		t.Fatalf("not JSON: %v", err)
	}
	encoded, _ := json.Marshal(string(p))
	if err := json.Unmarshal(encoded, &want); err != nil || back != want {
		t.Fatalf("got %q back, want %q", back, want)
	}
}

// FuzzBase64 holds the encoder, whole and in pieces, to encoding/base64, and watches what it writes to.
func FuzzBase64(f *testing.F) {
	f.Add([]byte(""), uint64(1))
	f.Add([]byte("a"), uint64(2))
	f.Add([]byte("some bytes to encode"), uint64(3))
	f.Add(bytes.Repeat([]byte("\xfb\xff\x00"), 40), uint64(4))
	f.Fuzz(func(t *testing.T, p []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		p = stretched(p, r)
		want := []byte(base64.StdEncoding.EncodeToString(p))
		if n := textenc.Base64Len(len(p)); n != len(want) {
			t.Fatalf("got length %d for %d bytes, want %d", n, len(p), len(want))
		}
		for _, room := range []int{len(want), len(want) + r.IntN(100), r.IntN(len(want) + 1)} {
			var whole, cut textenc.Base64
			a := newArena(r.IntN(64), room)
			a.check(t, "whole", whole.End(whole.Append(a.dst, p)), want)
			a = newArena(r.IntN(64), room)
			got := a.dst
			pieces(p, r, func(piece []byte) { got = cut.Append(got, piece) })
			a.check(t, "in pieces", cut.End(got), want)
			if rest := cut.End(nil); len(rest) != 0 {
				t.Fatalf("got %q after End, want a fresh start", rest)
			}
		}
	})
}
