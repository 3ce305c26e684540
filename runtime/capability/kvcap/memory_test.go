package kvcap_test

import (
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/capability/kvcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/kvtest"
)

func openMemory(t *testing.T, quota kvcap.Quota, now func() time.Time) kvcap.Store {
	t.Helper()
	m, err := kvcap.NewMemory(quota, now)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMemory(t *testing.T) { kvtest.Run(t, openMemory) }

func FuzzMemory(f *testing.F) {
	f.Add([]byte("\x01\x00\x05\x05\x02\x01\x00\x00\x01\x00\x05\x05\x01"))
	f.Fuzz(func(t *testing.T, program []byte) {
		clock := kvtest.NewClock()
		kvtest.Program(t, openMemory(t, kvtest.ProgramQuota, clock.Now), clock, program)
	})
}
