package sqlite_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// BenchmarkOverhead queries one row, in this process and in a helper; the difference is the round trip.
func BenchmarkOverhead(b *testing.B) {
	const query = "select id, name from users where id = ?1"
	args := []abi.SQLValue{{Kind: abi.SQLInt, Int: 2}}
	file := makeFile(b)
	b.Run("here", func(b *testing.B) {
		here, err := sqlite.OpenHere(file, limits)
		if err != nil {
			b.Fatal(err)
		}
		defer here.Close()
		b.ReportAllocs()
		for b.Loop() {
			if row, err := here.All(query, args...); len(row) == 0 || !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
		}
	})
	b.Run("helper", func(b *testing.B) {
		s := connect(b, open(b, file))
		row := make([]abi.SQLValue, 2)
		b.ReportAllocs()
		for b.Loop() {
			_, err := s.Query(b.Context(), &database.Statement{Query: query, Args: args, Timeout: time.Minute})
			if err = errors.Join(err, s.Next(row), s.Reset(b.Context())); err != nil || row[1].Text != "Alan" {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRows reads 10,000 rows.
func BenchmarkRows(b *testing.B) {
	const n = 10_000
	file := makeFile(b)
	b.Run("here", func(b *testing.B) {
		here, err := sqlite.OpenHere(file, limits)
		if err != nil {
			b.Fatal(err)
		}
		defer here.Close()
		for b.Loop() {
			if _, err := here.All(many(n).Query, many(n).Args...); !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
		}
	})
	b.Run("helper", func(b *testing.B) {
		s := connect(b, open(b, file))
		for b.Loop() {
			rows, err := all(b.Context(), s, time.Minute, many(n).Query, many(n).Args...)
			if err != nil || len(rows) != n {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStart starts a helper that opens the database, and kills it.
func BenchmarkStart(b *testing.B) {
	d := open(b, makeFile(b))
	for b.Loop() {
		s, err := d.Connect(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		<-sqlite.Ended(s)
	}
}
