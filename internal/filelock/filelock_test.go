package filelock_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/internal/filelock"
)

func TestALockIsHeldOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := filelock.Lock(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := filelock.Lock(ended, file); !errors.Is(err, context.Canceled) {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
	unlock, err = filelock.Lock(ended, file)
	if err != nil {
		t.Fatalf("after it was unlocked: %v", err)
	}
	unlock()
}
