package wazero_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
)

func TestEngine(t *testing.T) {
	enginetest.Test(t, func(t *testing.T, cfg engine.Config) engine.Engine {
		t.Helper()
		e, err := wazero.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		return e
	})
}

func TestACacheDirThatOthersCanWriteToIsRefused(t *testing.T) {
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	planted := t.TempDir()
	if err := os.Chmod(planted, 0o700); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(planted, "wazero-"+wazero.Version+"-elsewhere")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(inside, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{shared, planted} {
		if _, err := wazero.Open(engine.Config{CacheDir: dir}); err == nil || !strings.Contains(err.Error(), "private directory") {
			t.Errorf("%s: got %v, want a refusal", dir, err)
		}
	}
}

// A module is not to blame for a compilation that the end of the context has stopped.
func TestACompilationThatIsStoppedSaysSo(t *testing.T) {
	e, err := wazero.Open(engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	binary, err := os.ReadFile("probe.wasm")
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := e.Compile(ctx, binary, nil); !errors.Is(err, gone) || abi.CodeOf(err) == abi.CodeModule {
		t.Errorf("got %v, %v, want the cause of the end", err, abi.CodeOf(err))
	}
}

// The engine is pinned: each of its settings was chosen for the behaviour of this version.
func TestTheVersionIsTheOneThisPackageIsWrittenFor(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("no build info")
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/tetratelabs/wazero" && dep.Version != wazero.Version {
			t.Errorf("linked with %s, written for %s: check every setting and comment of this package", dep.Version, wazero.Version)
		}
	}
}
