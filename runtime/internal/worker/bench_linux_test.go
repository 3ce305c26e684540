package worker_test

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/bench"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// counting only counts what arrives.
type counting struct{ bytes int }

func (c *counting) Content(*abi.Content) error { return nil }
func (c *counting) Progress(abi.Progress)      {}
func (c *counting) Body(p []byte) error {
	c.bytes += len(p)
	return nil
}

// encoding does with what arrives what is done for a client.
type encoding struct {
	counting
	text []byte
}

func (e *encoding) Body(p []byte) error {
	e.text = base64.StdEncoding.AppendEncode(e.text[:0], p)
	return e.counting.Body(p)
}

// besides runs a benchmark in this process and in a worker, one beside the other.
func besides(b *testing.B, run func(b *testing.B, r guest.Runner)) {
	e, err := wazero.Open(wazero.Config{CacheDir: guesttest.CacheDir(b)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	b.Run("in-process", func(b *testing.B) { run(b, pool.InProcess{Engine: e}) })
	b.Run("worker", func(b *testing.B) { run(b, newRunner(b, worker.Config{})) })
}

// measure calls a module for as long as b wants, and reports quantiles and throughput.
func measure(b *testing.B, m *provider.Provider, req abi.Request, encoded bool) {
	b.Helper()
	var got encoding
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	call := func(context.Context) (bench.Cost, error) {
		got.bytes = 0
		to := abi.Sink(&got.counting)
		if encoded {
			to = &got
		}
		_, err := m.Call(ctx, abi.OpRead, &req, to)
		m.AfterResponse()
		return bench.Cost{Bytes: uint64(got.bytes)}, err
	}
	for b.Loop() {
		result, err := bench.Run(ctx, bench.Config{Call: call, Duration: time.Second})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(result.Latency(50))/1e3, "p50-µs")
		b.ReportMetric(float64(result.Latency(99))/1e3, "p99-µs")
		b.ReportMetric(result.MegabytesPerSecond(), "MB/s")
		b.ReportMetric(0, "ns/op")
	}
}

func BenchmarkRead(b *testing.B) {
	for _, bb := range []struct {
		name    string
		binary  func() []byte
		uri     string
		encoded bool // as for a client
	}{
		{"wat", func() []byte { return wat(b, "faults.wasm") }, "x:o", true},
		{"go", func() []byte { return guesttest.Binary(b, "hello") }, "hello://about", true},
		{"go-1MiB-untouched", func() []byte { return guesttest.Binary(b, "everything") }, "test://blob/1m", false},
		{"go-1MiB", func() []byte { return guesttest.Binary(b, "everything") }, "test://blob/1m", true},
		{"wat-64MiB", nil, "x:64", true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			besides(b, func(b *testing.B, r guest.Runner) {
				cfg := provider.Config{Runner: r, Limits: limits.Limits{Memory: 128 << 20, Timeout: patience}}
				if bb.binary == nil {
					measure(b, loadPuppet(b, cfg, streaming(make([]byte, 512<<10))), abi.Request{URI: bb.uri}, bb.encoded)
					return
				}
				measure(b, load(b, cfg, bb.binary()), abi.Request{URI: bb.uri}, bb.encoded)
			})
		})
	}
}

// A sample is a provider of the benchmarks, and a resource of it.
type sample struct {
	name, uri string
	binary    func() []byte
}

// small are providers of which little is asked.
func small(b *testing.B) []sample {
	return []sample{
		{"wat", "x:o", func() []byte { return wat(b, "faults.wasm") }},
		{"hello", "hello://about", func() []byte { return guesttest.Binary(b, "hello") }},
	}
}

// BenchmarkReady is the time from an order for a worker to its being ready, when its module is compiled already, and
// what the worker takes when it has served a read and rested.
func BenchmarkReady(b *testing.B) {
	for _, bb := range small(b) {
		b.Run(bb.name, func(b *testing.B) {
			r := newRunner(b, worker.Config{})
			p, err := provider.Instrument(provider.Config{}, bb.binary())
			if err != nil {
				b.Fatal(err)
			}
			open := func() *provider.Provider {
				m, err := provider.OpenModule(b.Context(), provider.Config{Runner: r}, p)
				if err != nil {
					b.Fatal(err)
				}
				return m
			}
			open().Close() // compiles
			memory, swapped, n := 0, 0, 0
			for b.Loop() {
				m := open()
				b.StopTimer()
				if _, err := read(b.Context(), m, bb.uri); err != nil {
					b.Fatal(err)
				}
				if n++; n == 1 {
					memory, swapped = rested(b)
				}
				m.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(memory), "KiB-RSS")
			b.ReportMetric(float64(swapped), "KiB-anonymous")
		})
	}
}

// rested returns what a worker takes, in KiB, some seconds after it was last used: in all, and of its own.
func rested(b *testing.B) (all, own int) {
	pid := workerOf(b)
	<-time.After(8 * time.Second)
	return status(b, pid, "VmRSS"), status(b, pid, "RssAnon")
}

// BenchmarkReplaced is the time from the death of a worker to the next answer, when there is a standby worker.
func BenchmarkReplaced(b *testing.B) {
	for _, bb := range small(b) {
		b.Run(bb.name, func(b *testing.B) {
			r := newRunner(b, worker.Config{})
			for b.Loop() {
				b.StopTimer()
				m, err := provider.Open(b.Context(), provider.Config{Runner: r}, bb.binary())
				if err != nil {
					b.Fatal(err)
				}
				standbyOf(b)
				pid := workerOf(b)
				b.StartTimer()
				if err := unix.Kill(pid, unix.SIGKILL); err != nil {
					b.Fatal(err)
				}
				if _, err := read(b.Context(), m, bb.uri); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				m.Close()
				b.StartTimer()
			}
		})
	}
}
