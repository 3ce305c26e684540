package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// BenchmarkReset is a guest that writes to as many pages of a 4 MiB memory, and the reset; the writes include the page
// faults that a method leaves to them.
func BenchmarkReset(b *testing.B) {
	const length = 4 * mib
	original := noise(length)
	for _, pages := range []int{0, 1, 4, 30, 64, 1000} {
		for _, method := range everyMethod {
			b.Run(fmt.Sprintf("pages=%d/%v", pages, method), func(b *testing.B) {
				e := benchEngine(b, original, snapshot.Config{Limit: 2 * length, Method: method})
				spread := 1
				if pages < 64 {
					spread = 17
				}
				shrink := e.shrink
				b.ReportAllocs()
				for b.Loop() {
					e.memory.BeginTracking()
					e.dirty(0, pages*spread*kernelPage, spread*kernelPage)
					e.memory.EndTracking()
					if err := e.memory.Reset(shrink); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkResetOfGrowth is a guest that grows by 4 MiB, writes to the first part of it, and the reset.
func BenchmarkResetOfGrowth(b *testing.B) {
	const length = 4 * mib
	original := noise(length)
	for _, written := range []int{64 << 10, 256 << 10, 1 * mib, 2 * mib} {
		for _, method := range everyMethod {
			b.Run(fmt.Sprintf("KiB=%d/%v", written>>10, method), func(b *testing.B) {
				e := benchEngine(b, original, snapshot.Config{Limit: 2 * length, Method: method})
				shrink := e.shrink
				b.ReportAllocs()
				for b.Loop() {
					mustGrow(b, e, 2*length)
					e.dirty(length, length+written, kernelPage)
					if err := e.memory.Reset(shrink); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(e.memory.PrivateBytes())/1024, "KiB-kept")
			})
		}
	}
}

// BenchmarkTrim is a memory at rest given back, and the page faults of the call after it.
func BenchmarkTrim(b *testing.B) {
	original := noise(4 * mib)
	e := benchEngine(b, original, snapshot.Config{})
	for b.Loop() {
		e.dirty(0, 30*kernelPage, kernelPage)
		e.reset(b)
		if err := e.memory.Trim(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory is a memory taken, written to and released: alone, so that it is recycled, and a hundred at a time, of
// which nearly all are mapped and unmapped.
func BenchmarkMemory(b *testing.B) {
	original := noise(4 * mib)
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			image := newImage(b, original, snapshot.Config{Limit: 64 * mib, Idle: 1})
			var memories []*snapshot.Memory
			for b.Loop() {
				m := newMemory(b, image)
				instantiate(m).dirty(0, 4*kernelPage, kernelPage)
				if memories = append(memories, m); len(memories) == batch {
					releaseAll(b, memories)
					memories = memories[:0]
				}
			}
			releaseAll(b, memories)
		})
	}
}

func releaseAll(b *testing.B, memories []*snapshot.Memory) {
	for _, m := range memories {
		release(b, m)
	}
}

// BenchmarkImage is a 4 MiB image made and closed.
func BenchmarkImage(b *testing.B) {
	for name, original := range map[string][]byte{"noise": noise(4 * mib), "holes": holes(4 * mib)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				image, err := snapshot.New(original, snapshot.Config{})
				if err != nil {
					b.Fatal(err)
				}
				if err := image.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchEngine(b *testing.B, original []byte, cfg snapshot.Config) *fakeEngine {
	b.Helper()
	image, err := snapshot.New(original, cfg)
	if err != nil {
		b.Skipf("does not work here: %v", err)
	}
	b.Cleanup(func() { _ = image.Close() })
	m := newMemory(b, image)
	b.Cleanup(func() { release(b, m) })
	e := instantiate(m)
	e.dirty(0, len(original), kernelPage) // the image's pages are in memory, as after any use
	e.reset(b)
	return e
}
