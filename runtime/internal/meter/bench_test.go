package meter_test

import (
	"context"
	"testing"
	"time"
)

// BenchmarkMetered compares both forms of the same work, one after the other in small rounds so that a busy machine
// slows both alike. It reports the best round of each and their ratio.
func BenchmarkMetered(b *testing.B) {
	h := newHost(b)
	binary := read(b, "work")
	plain, err := h.original(binary)
	if err != nil {
		b.Fatal(err)
	}
	metered, err := h.metered(binary, generous)
	if err != nil {
		b.Fatal(err)
	}
	goPlain, goMetered := bothForms(b, h, goGuest(b))
	for _, c := range []struct {
		name           string
		function       string
		plain, metered *guest
		args           []uint64
	}{
		{"fib", "fib", plain, metered, []uint64{20}},
		{"spin", "spin", plain, metered, []uint64{100_000}},
		{"sum", "sum", plain, metered, []uint64{100_000}},
		{"calls", "calls", plain, metered, []uint64{20_000}},
		{"copy100", "copies", plain, metered, []uint64{100, 5000}},
		{"copy4K", "copies", plain, metered, []uint64{4 << 10, 1000}},
		{"copy1M", "copies", plain, metered, []uint64{1 << 20, 4}},
		{"fill100", "fills", plain, metered, []uint64{100, 5000}},
		{"fill1M", "fills", plain, metered, []uint64{1 << 20, 4}},
		{"go/format", "format", goPlain, goMetered, []uint64{7}},
		{"go/encode", "encode", goPlain, goMetered, []uint64{7}},
		{"go/search", "search", goPlain, goMetered, []uint64{100}},
	} {
		b.Run(c.name, func(b *testing.B) { sideBySide(b, c.plain, c.metered, c.function, c.args) })
	}
}

func sideBySide(b *testing.B, plain, metered *guest, function string, args []uint64) {
	best := [2]time.Duration{1 << 60, 1 << 60}
	for b.Loop() {
		for i, g := range []*guest{plain, metered} {
			f := g.module.ExportedFunction(function)
			ctx := context.WithValue(b.Context(), guestKey{}, g)
			stack := make([]uint64, max(1, len(args)))
			for range 5 {
				copy(stack, args)
				start := time.Now()
				if g.code != nil {
					g.arm()
				}
				if err := f.CallWithStack(ctx, stack); err != nil {
					b.Fatal(err)
				}
				best[i] = min(best[i], time.Since(start))
			}
		}
	}
	b.ReportMetric(float64(best[0].Nanoseconds()), "ns-original")
	b.ReportMetric(float64(best[1].Nanoseconds()), "ns-metered")
	b.ReportMetric(float64(best[1])/float64(best[0]), "ratio")
}
