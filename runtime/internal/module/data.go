package module

import (
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// mergeGap is how many bytes there may be between two data segments that are merged: a segment takes 32 in memory.
const mergeGap = 32

// merged returns fewer data segments that write the same to a new memory, whose bytes are zero. A provider in Go has tens of
// thousands of segments, since its linker leaves out short runs of zeros. Segments that may lie beyond the memory, of so many
// pages, stay as they are, so that an error names the right one.
func merged(data []meter.Segment, pages uint32) (out []meter.Segment) {
	memory := uint64(pages) * engine.PageSize
	end := uint64(0) // of all segments so far; from there on the memory is zero
	var last []byte  // the bytes of the last segment, if they end there
	for _, s := range data {
		from, to := uint64(s.Offset), uint64(s.Offset)+uint64(len(s.Bytes))
		if last != nil && from >= end && from-end <= mergeGap && to <= memory {
			last = append(append(last, make([]byte, from-end)...), s.Bytes...)
			out[len(out)-1].Bytes = last
			end = to
			continue
		}
		out = append(out, s)
		last = nil
		if from >= end && to <= memory {
			last = append([]byte{}, s.Bytes...)
			end = to
		}
		end = max(end, to)
	}
	return out
}

// WithoutData returns m without the data of its memory, for when no instance starts but from an image.
func (m *Module) WithoutData() *Module {
	without, code := *m, *m.Code
	code.Data = nil
	without.Code, without.noData = &code, true
	return &without
}

// HasData reports whether m has all data of its memory, which may be none, so that an instance can start without an image.
func (m *Module) HasData() bool { return !m.light && !m.noData }
