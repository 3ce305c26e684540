package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/storetest"
)

// filled makes the folder of a store with 5,000 tenants and 10,000 keys.
func filled(b *testing.B) string {
	b.Helper()
	dir := private(b)
	s := open(b, dir)
	c := tenant.Change{Owner: tenant.OwnerFiles}
	for i := range 5_000 {
		t := storetest.Tenant(fmt.Sprint("tenant-", i))
		c.SetTenants = append(c.SetTenants, t)
		for j := range 2 {
			c.SetKeys = append(c.SetKeys, storetest.Key(t.ID, fmt.Sprint("key-", i, "-", j)))
		}
	}
	began := time.Now()
	if _, err := s.Apply(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	b.Logf("5,000 tenants and 10,000 keys set in %v", time.Since(began))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

func BenchmarkOpen(b *testing.B) {
	dir := filled(b)
	for b.Loop() {
		if err := open(b, dir).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApply changes one tenant of 5,000.
func BenchmarkApply(b *testing.B) {
	s := open(b, filled(b))
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		t := storetest.Tenant("tenant-7")
		t.Digest = fmt.Sprint(i)
		began := time.Now()
		set(b, s, t)
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1e3, "p50-ms")
}
