package wasm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/wasmres/wasmres/runtime/wasm"
)

func TestNumbersRoundTrip(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, -8192, -8193, math.MaxInt32, math.MinInt32,
		math.MaxUint32, 1<<32 - 1, -(1 << 32), math.MaxInt64, math.MinInt64} {
		if u := uint32(v); true {
			r := wasm.NewReader(wasm.AppendU32(nil, u))
			if got := r.U32(); got != u || r.Err() != nil || r.Len() != 0 {
				t.Errorf("u32 %d: got %d, %v, %d bytes left", u, got, r.Err(), r.Len())
			}
		}
		if s := int32(v); true {
			r := wasm.NewReader(wasm.AppendS32(nil, s))
			if got := r.S32(); got != s || r.Err() != nil || r.Len() != 0 {
				t.Errorf("s32 %d: got %d, %v, %d bytes left", s, got, r.Err(), r.Len())
			}
		}
		r := wasm.NewReader(wasm.AppendS64(nil, v))
		if got := r.S64(); got != v || r.Err() != nil || r.Len() != 0 {
			t.Errorf("s64 %d: got %d, %v, %d bytes left", v, got, r.Err(), r.Len())
		}
		if want := v << 31 >> 31; want == v {
			r := wasm.NewReader(wasm.AppendS64(nil, v))
			if got := r.S33(); got != v || r.Err() != nil {
				t.Errorf("s33 %d: got %d, %v", v, got, r.Err())
			}
		}
	}
}

func TestNumbersThatAreTooLongAreRefused(t *testing.T) {
	reads := map[string]func(*wasm.Reader) int64{
		"u32": func(r *wasm.Reader) int64 { return int64(r.U32()) },
		"s32": func(r *wasm.Reader) int64 { return int64(r.S32()) },
		"s33": (*wasm.Reader).S33,
		"s64": (*wasm.Reader).S64,
	}
	for _, c := range []struct {
		read, bytes string
		want        int64
		ok          bool
	}{
		{"u32", "\x80\x80\x80\x80\x00", 0, true},
		{"u32", "\xff\xff\xff\xff\x0f", math.MaxUint32, true},
		{"u32", "\xff\xff\xff\xff\x1f", 0, false},
		{"u32", "\x80\x80\x80\x80\x80\x00", 0, false},
		{"u32", "\x80", 0, false},
		{"u32", "", 0, false},
		{"s32", "\xff\xff\xff\xff\x7f", -1, true},
		{"s32", "\x80\x80\x80\x80\x78", math.MinInt32, true},
		{"s32", "\xff\xff\xff\xff\x07", math.MaxInt32, true},
		{"s32", "\xff\xff\xff\xff\x0f", 0, false}, // the sign is not repeated
		{"s32", "\x80\x80\x80\x80\x70", 0, false},
		{"s32", "\xff\xff\xff\xff\xff\x7f", 0, false},
		{"s33", "\xff\xff\xff\xff\x0f", math.MaxUint32, true},
		{"s33", "\x80\x80\x80\x80\x70", -1 << 32, true},
		{"s33", "\xff\xff\xff\xff\x1f", 0, false},
		{"s64", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", math.MinInt64, true},
		{"s64", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", math.MaxInt64, true},
		{"s64", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0, false},
		{"s64", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 0, false},
	} {
		r := wasm.NewReader([]byte(c.bytes))
		if got := reads[c.read](r); got != c.want || (r.Err() == nil) != c.ok {
			t.Errorf("%s %x: got %d, %v, want %d, ok %v", c.read, c.bytes, got, r.Err(), c.want, c.ok)
		}
	}
}

func TestTheFirstFailureStays(t *testing.T) {
	r := wasm.NewReader([]byte("\x01\x05ab\x02"))
	if got := r.Byte(); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
	if got := r.Name(); got != nil {
		t.Errorf("got name %q past the end", got)
	}
	var format *wasm.FormatError
	if err := r.Err(); !errors.As(err, &format) || format.Offset != 2 || !errors.Is(err, wasm.ErrFormat) {
		t.Errorf("got %v, want a format error at byte 2", err)
	}
	part := r.Part(0)
	if r.Byte() != 0 || r.U32() != 0 || r.S64() != 0 || r.Bytes(1) != nil || r.Len() != 0 || part.Err() != r.Err() {
		t.Error("it reads on after a failure")
	}
	if again := r.Err(); again != error(format) {
		t.Errorf("got another failure, %v", again)
	}
}

func TestNamesAreUTF8(t *testing.T) {
	if r := wasm.NewReader([]byte("\x03a\xc3\xa4")); string(r.Name()) != "aä" || r.Err() != nil {
		t.Errorf("got %v", r.Err())
	}
	for _, bad := range []string{"\x01\xff", "\x02\xc0\x80", "\x03\xed\xa0\x80", "\x02a", "\xff\xff\xff\xff\x0f"} {
		if r := wasm.NewReader([]byte(bad)); r.Name() != nil || r.Err() == nil {
			t.Errorf("%q: got no failure", bad)
		}
	}
}

func TestPartsCountOffsetsOfTheWhole(t *testing.T) {
	r := wasm.NewReader([]byte{0, 1, 2, 3, 4, 5})
	r.Byte()
	part := r.Part(2)
	if got := part.Byte(); got != 1 || part.Offset() != 2 || part.Len() != 1 {
		t.Errorf("got %d at %d with %d left, want 1 at 2 with 1 left", got, part.Offset(), part.Len())
	}
	part.U32()
	if part.Byte(); part.Err() == nil {
		t.Error("a part reads past its end")
	}
	if got := r.Byte(); got != 3 || r.Err() != nil {
		t.Errorf("got %d, %v after the part, want 3", got, r.Err())
	}
}

func TestSectionReadersCountFromTheStartOfTheModule(t *testing.T) {
	binary := module(t)
	for s, err := range wasm.Sections(binary) {
		if err != nil {
			t.Fatal(err)
		}
		r := s.Reader()
		at := r.Offset()
		if body := r.Bytes(uint32(r.Len())); !bytes.Equal(body, s.Body) || !bytes.Equal(binary[at:at+len(body)], body) {
			t.Errorf("section %d: the reader has other bytes", s.ID)
		}
	}
}

func TestAppendSection(t *testing.T) {
	got := wasm.AppendSection([]byte("x"), wasm.SectionCustom, wasm.AppendName(nil, "note"))
	if want := "x\x00\x05\x04note"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	numbers := binary.AppendUvarint(nil, 1<<20)
	code := []byte{0x0e, 2, 0, 1, 0x80, 0, 0x1c, 1, 0x7f, 0xfd, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0b}
	allocations := testing.AllocsPerRun(100, func() {
		wasm.NewReader(numbers).U32()
		var ins wasm.Instruction
		for r := wasm.NewReader(code); r.Next(&ins); {
			for labels := wasm.NewReader(ins.Labels); labels.Len() > 0; {
				labels.U32()
			}
		}
	})
	if allocations != 0 {
		t.Errorf("got %v allocations", allocations)
	}
}
