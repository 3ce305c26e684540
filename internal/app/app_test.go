package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	runtime "github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

func TestMain(m *testing.M) {
	runtime.Main()
	sqlcap.Main()
	m.Run()
}

func TestCacheFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		cfg  Config
		fail bool
	}{
		"none":               {Config{}, false},
		"asked for":          {Config{CacheDir: filepath.Join(file, "cache")}, true},
		"a mere convenience": {Config{CacheDir: filepath.Join(file, "cache"), CacheOptional: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.cfg.File = "../../testdata/wasm/faults.wasm" // which compiles at once
			tt.cfg.Logger = slog.New(slog.DiscardHandler)
			a, err := Open(t.Context(), tt.cfg)
			if (err != nil) != tt.fail {
				t.Fatalf("got %v, want failure: %v", err, tt.fail)
			}
			if err != nil {
				return
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
