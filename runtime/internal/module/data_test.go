package module_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/module"
)

// strippedData returns the data of a module with one page of memory, as a worker gets it.
func strippedData(t *testing.T, data []meter.Segment) []meter.Segment {
	t.Helper()
	m := &module.Module{Code: &meter.Module{Binary: []byte("\x00asm\x01\x00\x00\x00"), MinPages: 1, Data: data}}
	text, err := m.Stripped()
	if err != nil {
		t.Fatal(err)
	}
	got, err := module.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return got.Code.Data
}

// written writes segments to a new memory of one page. It returns the first that does not fit, which is empty if all do.
func written(data []meter.Segment) (memory []byte, unfit meter.Segment) {
	memory = make([]byte, engine.PageSize)
	for _, s := range data {
		if uint64(s.Offset)+uint64(len(s.Bytes)) > uint64(len(memory)) {
			return memory, s
		}
		copy(memory[s.Offset:], s.Bytes)
	}
	return memory, meter.Segment{}
}

func segment(offset uint32, text string) meter.Segment {
	return meter.Segment{Offset: offset, Bytes: []byte(text)}
}

func TestDataSegmentsAreMerged(t *testing.T) {
	end := uint32(engine.PageSize)
	for name, tt := range map[string]struct {
		data []meter.Segment
		want int
	}{
		"none":                        {nil, 0},
		"one":                         {[]meter.Segment{segment(5, "a")}, 1},
		"adjacent":                    {[]meter.Segment{segment(5, "ab"), segment(7, "cd"), segment(9, "e")}, 1},
		"a small gap":                 {[]meter.Segment{segment(0, "ab"), segment(34, "cd")}, 1},
		"a large gap":                 {[]meter.Segment{segment(0, "ab"), segment(35, "cd")}, 2},
		"overlapping":                 {[]meter.Segment{segment(0, "abcd"), segment(2, "xy"), segment(4, "z")}, 3},
		"descending":                  {[]meter.Segment{segment(9, "a"), segment(5, "b")}, 2},
		"a gap that is written":       {[]meter.Segment{segment(12, "gap"), segment(0, "ab"), segment(20, "cd")}, 3},
		"ascending after a large one": {[]meter.Segment{segment(0, strings.Repeat("x", 200)), segment(3, "ab"), segment(201, "c"), segment(202, "d")}, 3},
		"up to the end":               {[]meter.Segment{segment(end-2, "a"), segment(end-1, "b")}, 1},
		"beyond the end":              {[]meter.Segment{segment(end-2, "a"), segment(end-1, "bc"), segment(end-1, "d")}, 3},
		"far beyond the end":          {[]meter.Segment{segment(1<<32-1, "ab"), segment(0, "c"), segment(1, "d")}, 3},
		"empty ones":                  {[]meter.Segment{segment(0, ""), segment(0, "a"), segment(1, ""), segment(end, "")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			got := strippedData(t, tt.data)
			if len(got) != tt.want {
				t.Errorf("got %d segments, want %d: %v", len(got), tt.want, got)
			}
			checkMerged(t, tt.data, got)
		})
	}
}

func checkMerged(t *testing.T, data, merged []meter.Segment) {
	t.Helper()
	want, unfit := written(data)
	got, other := written(merged)
	if !bytes.Equal(got, want) || other.Offset != unfit.Offset || !bytes.Equal(other.Bytes, unfit.Bytes) {
		t.Errorf("%d merged segments write another memory, or %v does not fit rather than %v", len(merged), other, unfit)
	}
}

func FuzzMergedData(f *testing.F) {
	f.Add([]byte("\x00\x05\x02\x00\x08\x01\xff\xff\x02"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var data []meter.Segment
		for ; len(b) >= 3; b = b[3:] {
			offset, n := uint32(b[0])<<8|uint32(b[1]), int(b[2]%40)
			data = append(data, meter.Segment{Offset: offset, Bytes: bytes.Repeat([]byte{b[2] | 1}, n)})
		}
		checkMerged(t, data, strippedData(t, data))
	})
}
