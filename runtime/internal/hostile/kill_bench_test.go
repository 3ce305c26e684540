//go:build linux

package hostile_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// BenchmarkKill measures how long after their deadline guests are stopped, beside a goroutine that collects garbage without
// a pause: in the median, and at worst. The worst stall is the longest time in which that neighbour could not run.
func BenchmarkKill(b *testing.B) {
	for name, title := range map[string]string{
		"loop": "loop-empty", "nested": "loop-nested", "calltree": "calltree-64", "indirect": "calltree-64-indirect", "recursion": "recursion-wide",
		"fill": "fill-loop", "fill-straight": "fill-straight", "copy": "copy-loop", "memory": "loop-memory", "info": "info-flood", "log": "log-flood",
	} {
		b.Run(name, func(b *testing.B) { kill(b, caseNamed(b, title)) })
	}
}

func caseNamed(b *testing.B, name string) hostile.Case {
	b.Helper()
	cases := hostile.Cases()
	i := slices.IndexFunc(cases, func(c hostile.Case) bool { return c.Name == name })
	if i < 0 {
		b.Fatalf("there is no case %s", name)
	}
	return cases[i]
}

func kill(b *testing.B, c hostile.Case) {
	const deadline = 20 * time.Millisecond
	e, err := enginetest.Kind().Open(engine.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	l := attack.LimitsOf(c)
	l.Timeout = deadline
	m, err := provider.Open(b.Context(), provider.Config{Runner: pool.InProcess{Engine: e}, Limits: l}, c.Modules()[0])
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	var over []time.Duration
	neighbour := watch()
	for b.Loop() {
		start := time.Now()
		_, err := m.Call(context.Background(), c.Op, &abi.Request{URI: c.URI}, sink{})
		over = append(over, time.Since(start)-deadline)
		if code := abi.CodeOf(err).String(); !slices.Contains(c.Want, code) {
			b.Fatalf("got %s, want one of %v: %v", code, c.Want, err)
		}
	}
	stall := neighbour.stop()
	slices.Sort(over)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(micros(over[len(over)/2]), "p50-over-µs")
	b.ReportMetric(micros(over[len(over)-1]), "max-over-µs")
	b.ReportMetric(micros(stall), "max-stall-µs")
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
