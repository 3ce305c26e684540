package snapshot_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// BenchmarkRest is what a memory at rest takes, in KiB of proportional set size: after calls that write to 27 pages of
// a 4 MiB image and, in the second case, to 1 MiB that was grown, and after it was trimmed.
func BenchmarkRest(b *testing.B) {
	for name, grown := range map[string]int{"grown=0": 0, "grown=1MiB": mib} {
		for _, method := range everyMethod {
			b.Run(name+"/"+method.String(), func(b *testing.B) {
				const count, limit = 32, 8 * mib
				image, err := snapshot.New(holes(4*mib), snapshot.Config{Limit: limit, Method: method})
				if err != nil {
					b.Skipf("does not work here: %v", err)
				}
				b.Cleanup(func() { _ = image.Close() })
				var memories []*snapshot.Memory
				for range count {
					memories = append(memories, atRest(b, image, grown))
				}
				for b.Loop() {
					b.ReportMetric(pss(b, memories, limit)/count, "KiB-pss/memory")
				}
				for _, m := range memories {
					if err := m.Trim(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(pss(b, memories, limit)/count, "KiB-trimmed/memory")
			})
		}
	}
}

func atRest(b *testing.B, image *snapshot.Image, grown int) *snapshot.Memory {
	m := newMemory(b, image)
	b.Cleanup(func() { release(b, m) })
	e := instantiate(m)
	for range 3 {
		mustGrow(b, e, len(e.view)+grown)
		e.dirty(int(image.Len()), len(e.view), kernelPage)
		e.dirty(0, 27*20*kernelPage, 20*kernelPage)
		e.reset(b)
	}
	return m
}

// pss sums the proportional set size of memories up to their limit, in KiB.
func pss(b *testing.B, memories []*snapshot.Memory, limit uint64) float64 {
	b.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	sum, counted := 0, false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var start, end uint64
		var size int
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x", &start, &end); n == 2 {
			counted = overlaps(memories, limit, start, end)
		} else if strings.HasPrefix(lines.Text(), "Pss:") && counted {
			if _, err := fmt.Sscanf(lines.Text(), "Pss: %d kB", &size); err != nil {
				b.Fatal(err)
			}
			sum += size
		}
	}
	return float64(sum)
}

func overlaps(memories []*snapshot.Memory, limit, start, end uint64) bool {
	for _, m := range memories {
		if base := uint64(uintptr(unsafe.Pointer(&m.Bytes()[0]))); start < base+limit && base < end {
			return true
		}
	}
	return false
}
