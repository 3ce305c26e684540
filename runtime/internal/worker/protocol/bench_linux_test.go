package protocol_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// BenchmarkCall is a round trip to another process: a call of 100 bytes, a frame of 200 and perhaps one more, and done.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{0, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dK", size>>10), func(b *testing.B) { benchmark(b, opFrame, size) })
	}
}

// BenchmarkBody brings one content to private memory of the parent.
func BenchmarkBody(b *testing.B) {
	for name, op := range map[string]abi.Op{"window": opBody, "inline": opInline, "pushes": opPushes} {
		for _, size := range []int{1 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20} {
			b.Run(fmt.Sprintf("%s/%dK", name, size>>10), func(b *testing.B) { benchmark(b, op, size) })
		}
	}
}

func benchmark(b *testing.B, op abi.Op, size int) {
	l := newLink(b, 0)
	l.call.Request = make([]byte, 76)
	took := make([]time.Duration, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		start, got := time.Now(), 0
		if err := l.do(op, size, func(p []byte) error { got += len(p); return nil }); err != nil || got < size {
			b.Fatal(got, err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	p50 := took[len(took)/2]
	b.ReportMetric(float64(p50)/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
	b.ReportMetric(float64(size)/1e6/p50.Seconds(), "p50-MB/s")
}
