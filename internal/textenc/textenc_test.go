package textenc_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/textenc"
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
			if got := string(textenc.AppendString(nil, tt.in)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAppendTextRefusesWhatIsNotUTF8(t *testing.T) {
	for _, in := range []string{
		"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "é\xc3", strings.Repeat("a", 17) + "\xe6\x97",
	} {
		if _, ok := textenc.AppendText(nil, []byte(in)); ok {
			t.Errorf("%q was accepted", in)
		}
	}
}

func TestTextEndsInsideARune(t *testing.T) {
	var text textenc.Text
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

func TestTextIsEncodedTheSameOfEveryKindAndLength(t *testing.T) {
	lengths := []int{0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 223, 225, 8191, 8192, 8193, 8195, 20000, 1 << 20}
	for _, c := range corpora() {
		for _, n := range lengths {
			p := bytes.ToValidUTF8(c.text[:n], nil)
			want, _ := scalar(p)
			for _, e := range encoders {
				got, ok := e.text(nil, p)
				if !ok || !bytes.Equal(got, want) {
					t.Errorf("%s, %d bytes, %s: got %d bytes, %v, want %d", c.name, len(p), e.name, len(got), ok, len(want))
				}
			}
		}
	}
}

func TestABadByteIsFoundWhereverItStands(t *testing.T) {
	for _, bad := range []string{"\xff", "\x80", "\xe6\x97", "\xed\xa0\x80"} {
		for at := range 200 {
			p := []byte(strings.Repeat("日", 3000)[:8100] + strings.Repeat("a", at) + bad + strings.Repeat("b", 200-at))
			for _, e := range encoders {
				if _, ok := e.text(nil, p); ok {
					t.Fatalf("%s: %q at %d was accepted", e.name, bad, 8100+at)
				}
			}
		}
	}
}

func TestAppendStringMendsLongStrings(t *testing.T) {
	in := strings.Repeat("a\"日", 3000) + "\xff" + strings.Repeat("b", 100) + "\xe6\x97"
	want, _ := scalar([]byte(in))
	for _, e := range encoders {
		if got := e.str([]byte("x"), in); string(got) != `x"`+string(want)+`"` {
			t.Errorf("%s: got %.40q… of %d bytes, want %d", e.name, got, len(got), len(want)+3)
		}
	}
}

func TestBase64OfMuch(t *testing.T) {
	p := mixed()
	want := base64.StdEncoding.EncodeToString(p)
	for _, cut := range []int{0, 1, 2, 3, 96<<10 - 1, len(p)} {
		var b textenc.Base64
		got := b.End(b.Append(b.Append(nil, p[:cut]), p[cut:]))
		if string(got) != want {
			t.Errorf("cut at %d: got %d bytes, want %d others", cut, len(got), len(want))
		}
	}
}

func TestNothingIsAllocatedWhereThereIsRoom(t *testing.T) {
	p, dst := mixed(), make([]byte, 0, 2<<20)
	s := string(p)
	for name, encode := range map[string]func(){
		"text":         func() { textenc.AppendText(dst, p) },
		"short string": func() { textenc.AppendString(dst, s[:20]) },
		"long string":  func() { textenc.AppendString(dst, s) },
		"base64":       func() { var b textenc.Base64; b.End(b.Append(dst, p)) },
	} {
		if n := testing.AllocsPerRun(10, encode); n != 0 {
			t.Errorf("%s: got %v allocations, want none", name, n)
		}
	}
}
