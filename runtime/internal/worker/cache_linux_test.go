package worker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/limits"
)

// harms are what may become of a compiled module.
func harms() map[string]func(file string) error {
	change := func(how func(text []byte) []byte) func(string) error {
		return func(file string) error {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, how(text), 0o600)
		}
	}
	flip := func(at func(size int) int) func(string) error {
		return change(func(text []byte) []byte { text[at(len(text))] ^= 0x10; return text })
	}
	return map[string]func(string) error{
		"gone":                     os.Remove,
		"empty":                    change(func([]byte) []byte { return nil }),
		"half":                     change(func(text []byte) []byte { return text[:len(text)/2] }),
		"longer":                   change(func(text []byte) []byte { return append(text, text...) }),
		"zeros":                    change(func(text []byte) []byte { return make([]byte, len(text)) }),
		"other at the beginning":   flip(func(int) int { return 3 }),
		"other in the middle":      flip(func(size int) int { return size / 2 }),
		"other at the end":         flip(func(size int) int { return size - 1 }),
		"not ours to read":         func(file string) error { return os.Chmod(file, 0) },
		"the folder of it is gone": func(file string) error { return os.RemoveAll(filepath.Dir(file)) },
	}
}

// entryOf compiles a module and gives the file it is in.
func entryOf(t *testing.T, dir string, binary []byte) string {
	t.Helper()
	c, err := compiler.New(compiler.Config{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p, err := provider.Instrument(provider.Config{}, binary)
	if err != nil {
		t.Fatal(err)
	}
	file, err := c.Entry(t.Context(), p.Binary())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestACompiledModuleThatIsHarmedIsRecompiled(t *testing.T) {
	takesLong(t)
	for name, harm := range harms() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := harm(entryOf(t, dir, wat(t, "faults.wasm"))); err != nil {
				t.Fatal(err)
			}
			r := newRunnerIn(t, dir, worker.Config{})
			works(t, load(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, wat(t, "faults.wasm")))
		})
	}
}

func TestAWorkerIsReplacedAlthoughItsCompiledModuleIsHarmed(t *testing.T) {
	takesLong(t)
	for name, harm := range harms() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := newRunnerIn(t, dir, worker.Config{})
			m := load(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, wat(t, "faults.wasm"))
			if err := harm(entryOf(t, dir, wat(t, "faults.wasm"))); err != nil {
				t.Fatal(err)
			}
			signal(t, unix.SIGKILL)
			recovers(t, m)
		})
	}
}

// mapsCode skips a test for engines that map native code by themselves.
func mapsCode(t *testing.T) {
	t.Helper()
	if !enginetest.Kind().MapsCode() {
		t.Skip("the engine maps native code by itself")
	}
}

func TestAWorkerMapsItsNativeCode(t *testing.T) {
	mapsCode(t)
	r := newRunnerIn(t, t.TempDir(), worker.Config{})
	works(t, load(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, wat(t, "faults.wasm")))
	if why := r.Isolation().Copied; why != "" {
		t.Errorf("the code is copied: %s", why)
	}
}

func TestAWorkerCopiesNativeCodeThatItCannotMap(t *testing.T) {
	mapsCode(t)
	for name, code := range map[string]func(ctx context.Context, dir string) (*os.File, error){
		"no file":            func(context.Context, string) (*os.File, error) { return nil, errors.New("disk full") },
		"another file":       func(context.Context, string) (*os.File, error) { return os.Open(os.DevNull) },
		"a file of no bytes": func(context.Context, string) (*os.File, error) { return os.Create(filepath.Join(t.TempDir(), "empty")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunnerIn(t, t.TempDir(), worker.Config{NativeCode: worker.NativeCode{Code: code}})
			works(t, load(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, wat(t, "faults.wasm")))
			if r.Isolation().Copied == "" {
				t.Error("nothing says why the code is copied")
			}
		})
	}
}

// Another process of this user can change the file: no guest runs on it.
func TestChangedNativeCodeIsMadeAgain(t *testing.T) {
	mapsCode(t)
	dir := t.TempDir()
	cfg := provider.Config{Runner: newRunnerIn(t, dir, worker.Config{}), Limits: limits.Limits{Timeout: patience}}
	works(t, load(t, cfg, wat(t, "faults.wasm")))
	files, err := filepath.Glob(filepath.Join(dir, "*.mapped"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v, want one file", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0x10
	if err := errors.Join(os.Remove(files[0]), os.WriteFile(files[0], text, 0o400)); err != nil {
		t.Fatal(err)
	}
	r := newRunnerIn(t, dir, worker.Config{})
	cfg.Runner = r
	works(t, load(t, cfg, wat(t, "faults.wasm")))
	if why := r.Isolation().Copied; why != "" {
		t.Errorf("the code is copied: %s", why)
	}
}

func TestAFullDiskIsReportedAndOvercome(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skipf("only root can mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 64<<10), 0o600); !errors.Is(err, unix.ENOSPC) && err != nil {
		t.Fatal(err)
	}
	r := newRunnerIn(t, dir, worker.Config{})
	cfg := provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}
	_, err := provider.Open(t.Context(), cfg, wat(t, "faults.wasm"))
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("got %v, want the disk to be blamed", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	works(t, load(t, cfg, wat(t, "faults.wasm")))
}
