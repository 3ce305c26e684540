package tenant_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// BenchmarkReadTenants reads 5,000 tenants that share a policy: first, in a process that knows none; known, in one that has
// the snapshot of another; same, when nothing has changed; one, when the file of one tenant has.
func BenchmarkReadTenants(b *testing.B) {
	files := with(plans, map[string]string{"modules/a.wasm": ""})
	for i := range 5000 {
		files[fmt.Sprintf("tenants/t%d.yaml", i)] = simple + fmt.Sprintf("hosts: [t%d.example]\n", i)
	}
	dir := b.TempDir()
	write(b, dir, files)
	s := settings(b, dir)
	read := func(reader *tenant.Reader, snapshot *tenant.Snapshot, set, parsed int) *tenant.Reading {
		r, err := reader.ReadTenants(s, snapshot)
		if err != nil || len(r.Change.SetTenants) != set || r.Read != parsed {
			b.Fatalf("got %d tenants set, %d files read, %v, want %d, %d", len(r.Change.SetTenants), r.Read, err, set, parsed)
		}
		return r
	}
	snapshot := apply(&tenant.Snapshot{}, &read(&tenant.Reader{}, nil, 5000, 5000).Change)
	b.Run("first", func(b *testing.B) {
		defer processorTime(b)()
		for b.Loop() {
			read(&tenant.Reader{}, nil, 5000, 5000)
		}
	})
	b.Run("known", func(b *testing.B) {
		defer processorTime(b)()
		for b.Loop() {
			read(&tenant.Reader{}, snapshot, 0, 5000)
		}
	})
	var reader tenant.Reader
	read(&reader, snapshot, 0, 5000)
	b.Run("same", func(b *testing.B) {
		defer processorTime(b)()
		for b.Loop() {
			read(&reader, snapshot, 0, 0)
		}
	})
	b.Run("one", func(b *testing.B) {
		file, n := dir+"/tenants/t7.yaml", 0
		before := time.Now().Add(-time.Hour)
		defer processorTime(b)()
		for b.Loop() {
			b.StopTimer()
			n++
			if err := os.WriteFile(file, []byte(fmt.Sprintf("%s# %d\n", simple, n)), 0o600); err != nil {
				b.Fatal(err)
			}
			if err := os.Chtimes(file, before, before.Add(time.Duration(n)*time.Microsecond)); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			read(&reader, snapshot, 1, 1)
		}
	})
}

// processorTime measures the processor time of a benchmark, with that of what it sets up. Call what it returns at the end.
func processorTime(b *testing.B) func() {
	used := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric((used()-before).Seconds()*1000/float64(b.N), "cpu-ms/op") }
}
