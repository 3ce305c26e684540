package ledger_test

import (
	"testing"

	"github.com/wasmres/wasmres/internal/ledger"
)

// BenchmarkAppend measures an entry that a caller waits for, until it is on disk.
func BenchmarkAppend(b *testing.B) {
	c := configOf(b.TempDir())
	c.MaxFile = 0
	l := open(b, c)
	for n := 0; b.Loop(); n++ {
		if err := l.Append(b.Context(), entry(n)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify measures reading a ledger of 20,000 entries without a server.
func BenchmarkVerify(b *testing.B) {
	c := configOf(b.TempDir())
	c.MaxFile = 0
	l := open(b, c)
	group := make([]ledger.Entry, 1000)
	for n := range group {
		group[n] = entry(n)
	}
	for range 20 {
		if err := l.Append(b.Context(), group...); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		verify(b, c.Dir)
	}
	b.ReportMetric(20_000*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkNoteRead measures what a recorded read costs the request: the entry is written later.
func BenchmarkNoteRead(b *testing.B) {
	c := configOf(b.TempDir())
	c.MaxFile = 0
	l := open(b, c)
	e := ledger.Entry{Actor: "client ada", Via: "mcp", Tenant: "acme", Action: "resource.read", Object: "notes://2026/11/24", After: `{"from":"192.0.2.1","bytes":1234}`}
	for b.Loop() {
		l.NoteRead(e)
	}
}
