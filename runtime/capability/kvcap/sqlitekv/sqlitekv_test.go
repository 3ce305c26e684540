package sqlitekv_test

import (
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/capability/kvcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/kvtest"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/sqlitekv"
)

// notes is the namespace of most tests.
var notes = kvcap.Namespace{Provider: "notes"}

// open opens the store of notes in a directory; the test closes it.
func open(t testing.TB, dir string, quota kvcap.Quota, now func() time.Time) *sqlitekv.Store {
	t.Helper()
	s, err := sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: notes, Quota: quota, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// private makes a directory for stores.
func private(t testing.TB) string { return t.TempDir() + "/kv" }

func TestStore(t *testing.T) {
	kvtest.Run(t, func(t *testing.T, quota kvcap.Quota, now func() time.Time) kvcap.Store {
		return open(t, private(t), quota, now)
	})
}
