package wire

import (
	"bytes"
	"strings"
	"testing"
)

func TestEndMovesLongMessages(t *testing.T) {
	for _, size := range []int{0, 1, 127, 128, 129, 16383, 16384, 1 << 21} {
		text := strings.Repeat("x", size)
		b, at := Begin([]byte("before"), 1)
		b = End(append(b, text...), at)
		want := AppendElement([]byte("before"), 1, text)
		if !bytes.Equal(b, want) {
			t.Errorf("%d bytes: got %d bytes starting %x, want %d starting %x", size, len(b), b[:min(len(b), 12)], len(want), want[:min(len(want), 12)])
		}
	}
}

func TestNested(t *testing.T) {
	long := strings.Repeat("y", 200)
	b, outer := Begin(nil, 1)
	b, inner := Begin(b, 2)
	b = AppendString(b, 3, long)
	b = AppendFixed(b, 4, 0.5)
	b = End(b, inner)
	b = AppendUint(b, 5, 300)
	b = End(b, outer)

	f, rest, ok := Next(string(b))
	if !ok || rest != "" || f.Num != 1 {
		t.Fatalf("outer: %v %q %v", f.Num, rest, ok)
	}
	f, rest, ok = Next(f.Text)
	if !ok || f.Num != 2 {
		t.Fatalf("inner: %v %v", f.Num, ok)
	}
	number, _, ok := Next(rest)
	if !ok || number.Num != 5 || number.Bits != 300 {
		t.Errorf("number: %+v %v", number, ok)
	}
	f, rest, _ = Next(f.Text)
	if f.Text != long {
		t.Errorf("text of %d bytes", len(f.Text))
	}
	if f, _, ok = Next(rest); !ok || f.Float() != 0.5 {
		t.Errorf("float: %v %v", f.Float(), ok)
	}
}

func TestMalformed(t *testing.T) {
	for _, s := range []string{"\x08", "\x0a", "\x0a\x02a", "\x0a\xff", "\x00\x01", "\x0b", "\x0c", "\x0e", "\x09\x00", "\x0d\x00",
		"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		if f, _, ok := Next(s); ok {
			t.Errorf("%q: got %+v, want malformed", s, f)
		}
	}
}

func FuzzNext(f *testing.F) {
	f.Add("\x0a\x03a://\x10\x01\x1d\x00\x00\x00\x00")
	f.Fuzz(func(t *testing.T, s string) {
		for s != "" {
			field, rest, ok := Next(s)
			if !ok {
				return
			}
			if len(rest) >= len(s) || len(field.Text) > len(s) {
				t.Fatalf("no progress: %q", s)
			}
			s = rest
		}
	})
}
