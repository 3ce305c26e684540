package provider_test

import (
	"context"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// nothing is a sink for what no test looks at.
type nothing struct{}

func (nothing) Content(*abi.Content) error { return nil }
func (nothing) Body([]byte) error          { return nil }
func (nothing) Progress(abi.Progress)      {}

// A call that succeeds allocates nothing more where faults are reported, and little more if it is recorded.
func TestFaultsCostNothingWithoutARecord(t *testing.T) {
	allocations := func(cfg provider.Config) float64 {
		cfg.Runner = pool.InProcess{Engine: openEngine(t)}
		m := load(t, cfg, "faults.wasm")
		ctx, req := t.Context(), &abi.Request{URI: "x:o"}
		return testing.AllocsPerRun(200, func() {
			if _, err := m.Call(ctx, abi.OpRead, req, nothing{}); err != nil {
				t.Fatal(err)
			}
			m.AfterResponse()
		})
	}
	onFault := func(context.Context, *provider.Fault) { t.Error("a call that succeeded is a fault") }
	plain := allocations(provider.Config{})
	if told := allocations(provider.Config{OnFault: onFault}); told != plain {
		t.Errorf("got %v allocations with OnFault, and %v without", told, plain)
	}
	if recorded := allocations(provider.Config{OnFault: onFault, Record: true}); recorded > plain+4 {
		t.Errorf("got %v allocations for a recorded call, and %v for another", recorded, plain)
	}
}

// BenchmarkRecord is a small read without and with a record, in this process and in a worker.
func BenchmarkRecord(b *testing.B) {
	for _, record := range []bool{false, true} {
		for _, place := range []string{"in-process", "process"} {
			name := place + "/off"
			if record {
				name = place + "/on"
			}
			b.Run(name, func(b *testing.B) {
				cfg := provider.Config{Record: record, OnFault: func(context.Context, *provider.Fault) {}}
				if cfg.Runner = (pool.InProcess{Engine: openEngine(b)}); place == "process" {
					cfg.Runner = workers(b, nil)
				}
				m := openBinary(b, cfg, readModule(b, "faults.wasm"))
				req := &abi.Request{URI: "x:o"}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Call(b.Context(), abi.OpRead, req, nothing{}); err != nil {
						b.Fatal(err)
					}
					m.AfterResponse()
				}
			})
		}
	}
}
