package wire_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/wire"
)

func TestAppendString(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", `""`},
		{"plain", "hello, world: 0123456789", `"hello, world: 0123456789"`},
		{"quote and backslash", `a"b\c`, `"a\"b\\c"`},
		{"short escapes", "\b\f\n\r\t", `"\b\f\n\r\t"`},
		{"control characters", "\x00\x1f\x7f", "\"\\u0000\\u001f\x7f\""},
		{"html stays", "<a href='x'>&", `"<a href='x'>&"`},
		{"line separators stay", "\u2028\u2029", "\"\u2028\u2029\""},
		{"runes", "é日本😀", `"é日本😀"`},
		{"replacement character", "\ufffd", "\"\ufffd\""},
		{"not UTF-8", "a\xffb\xe6\x97", "\"a\ufffdb\ufffd\ufffd\""},
		{"escape at each place of a word", "1234567\"12345678\n", `"1234567\"12345678\n"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(wire.AppendString(nil, tt.in)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAppendTextRefusesWhatIsNotUTF8(t *testing.T) {
	for _, in := range []string{"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "é\xc3", strings.Repeat("a", 17) + "\xe6\x97"} {
		if _, ok := wire.AppendText(nil, []byte(in)); ok {
			t.Errorf("%q was accepted", in)
		}
	}
}

func TestTextEndsInsideARune(t *testing.T) {
	var text wire.Text
	if _, ok := text.Append(nil, []byte("a\xe6\x97")); !ok {
		t.Fatal("the start of a rune was refused")
	}
	if text.End() {
		t.Error("half a rune was accepted as the end")
	}
	out, ok := text.Append(nil, []byte("b"))
	if !ok || string(out) != "b" || !text.End() {
		t.Errorf("got %q, %v after End, want a fresh start", out, ok)
	}
}

// FuzzText holds the encoder, whole and in pieces, to encoding/json and unicode/utf8.
func FuzzText(f *testing.F) {
	f.Add([]byte("plain"), uint64(1))
	f.Add([]byte("é日本😀\ufffd \"\\\n\x00\x7f"), uint64(2))
	f.Add([]byte("a\xffb\xe6\x97"), uint64(3))
	f.Add([]byte("\xed\xa0\x80\xf0\x9f\x98"), uint64(4))
	f.Fuzz(func(t *testing.T, p []byte, seed uint64) {
		whole, ok := wire.AppendText([]byte{'"'}, p)
		if ok != utf8.Valid(p) {
			t.Fatalf("got %v for %q, want %v", ok, p, utf8.Valid(p))
		}
		var text wire.Text
		pieces, piecesOK := []byte{'"'}, true
		for rest := p; len(rest) > 0 && piecesOK; {
			n := 1 + rand.New(rand.NewPCG(seed, uint64(len(rest)))).IntN(len(rest))
			pieces, piecesOK = text.Append(pieces, rest[:n])
			rest = rest[n:]
		}
		piecesOK = text.End() && piecesOK
		if piecesOK != ok || ok && !bytes.Equal(pieces, whole) {
			t.Fatalf("got %q, %v in pieces, want %q, %v", pieces, piecesOK, whole, ok)
		}
		if got := wire.AppendString(nil, string(p)); ok && string(got) != string(whole)+`"` {
			t.Fatalf("AppendString gives %q, AppendText %q", got, whole)
		}
		var back, want string
		if err := json.Unmarshal(wire.AppendString(nil, string(p)), &back); err != nil {
			t.Fatalf("not JSON: %v", err)
		}
		encoded, _ := json.Marshal(string(p))
		if err := json.Unmarshal(encoded, &want); err != nil || back != want {
			t.Fatalf("got %q back, want %q", back, want)
		}
	})
}

// FuzzBase64 holds the encoder in pieces to encoding/base64.
func FuzzBase64(f *testing.F) {
	f.Add([]byte(""), uint64(1))
	f.Add([]byte("a"), uint64(2))
	f.Add([]byte("some bytes to encode"), uint64(3))
	f.Fuzz(func(t *testing.T, p []byte, seed uint64) {
		var b wire.Base64
		got := []byte("x")
		r := rand.New(rand.NewPCG(seed, 0))
		for rest := p; len(rest) > 0; {
			n := r.IntN(len(rest) + 1)
			got = b.Append(got, rest[:n])
			rest = rest[n:]
		}
		got = b.End(got)
		if want := "x" + base64.StdEncoding.EncodeToString(p); string(got) != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if rest := b.End(nil); len(rest) != 0 {
			t.Fatalf("got %q after End, want a fresh start", rest)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for _, bb := range []struct{ name, unit string }{
		{"prose", "The quick brown fox jumps over the lazy dog.\n"},
		{"code", "\tif err != nil {\n\t\treturn fmt.Errorf(\"read %s: %w\", name, err)\n\t}\n"},
		{"kanji", "国境の長いトンネルを抜けると雪国であった。"},
	} {
		p := bytes.Repeat([]byte(bb.unit), 1<<20/len(bb.unit))
		b.Run(bb.name, func(b *testing.B) {
			dst := make([]byte, 0, 2*len(p))
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				dst, _ = wire.AppendText(dst[:0], p)
			}
		})
	}
}

func BenchmarkBase64(b *testing.B) {
	p := make([]byte, 1<<20)
	dst := make([]byte, 0, 2<<20)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		var enc wire.Base64
		dst = enc.End(enc.Append(dst[:0], p))
	}
}
