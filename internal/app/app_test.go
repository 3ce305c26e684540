package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/compiler"
	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/worker"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
	"github.com/wasmres/wasmres/runtime/resource"
)

func TestMain(m *testing.M) {
	compiler.Main()
	worker.Main()
	sqlcap.Main()
	m.Run()
}

// A failing source fails every read.
type failing struct {
	resource.Source
	err error
}

func (f failing) Read(context.Context, *abi.Request, abi.Sink) (*abi.Reply, error) { return nil, f.err }

func (f failing) List(context.Context, *abi.Request) (*abi.Reply, error) { return nil, f.err }

// The protocol has phrases for what a provider answers without a word. They must not pass for the provider's.
func TestCallKeepsTheWordsOfProvidersOnly(t *testing.T) {
	for code := abi.CodeNotFound; code <= abi.CodeInternal; code++ {
		for _, words := range []string{"", "the moon is full"} {
			for _, method := range []string{"resources/read", "resources/list"} {
				t.Run(code.String()+"/"+words+"/"+method, func(t *testing.T) {
					core, err := mcp.New(mcp.Config{Source: failing{err: &abi.Error{Code: code, Message: words}}, Name: "test", Version: "1"})
					if err != nil {
						t.Fatal(err)
					}
					a := &App{core: core}
					_, err = a.Call(t.Context(), method, map[string]string{"uri": "x:y"})
					var got *abi.Error
					if !errors.As(err, &got) || got.Code != code || got.Message != words {
						t.Errorf("got %#v, want %v with %q", err, code, words)
					}
				})
			}
		}
	}
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

func TestPageSize(t *testing.T) {
	for items, want := range map[int]int{0: 1000, 1: 1, 100: 100, 1000: 1000, 10_000: 1000} {
		if got := pageSize(runtime.Limits{Items: items}); got != want {
			t.Errorf("at most %d items: got pages of %d, want %d", items, got, want)
		}
	}
}
