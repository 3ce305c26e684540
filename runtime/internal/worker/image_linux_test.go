package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/limits"
)

// imagesIn returns the saved images in a cache.
func imagesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.image"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// startsIn starts a worker of a module by a cache, reads, and stops it. It returns what the first start of the guest took, and why
// this worker has no saved image.
func startsIn(t *testing.T, dir string, cfg provider.Config, binary []byte) (first limits.Start, unsaved string) {
	t.Helper()
	r := newRunnerIn(t, dir, worker.Config{})
	cfg.Runner, cfg.Limits.Timeout = r, patience
	m, err := provider.Open(t.Context(), cfg, binary)
	if err != nil {
		t.Fatal(err)
	}
	works(t, m)
	first = m.Info().Start
	if m.Info().State != nil {
		t.Error("what belongs to the image is kept as long as the provider")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	return first, r.Isolation().Unsaved
}

// inForms runs a test with a module that stays in memory, and with one that is loaded again: a worker that starts from an image gets no
// data of the latter. config returns the configuration of a provider whose cache is in a folder.
func inForms(t *testing.T, test func(t *testing.T, config func(t *testing.T, dir string) provider.Config)) {
	t.Run("whole", func(t *testing.T) {
		test(t, func(*testing.T, string) provider.Config { return provider.Config{} })
	})
	t.Run("light", func(t *testing.T) {
		test(t, func(t *testing.T, dir string) provider.Config {
			c, err := compiler.New(compiler.Config{CacheDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			return provider.Config{ModuleCache: c, Source: func() ([]byte, error) { return wat(t, "faults.wasm"), nil }}
		})
	})
}

func TestTheNextWorkerStartsFromTheImageOfTheFirst(t *testing.T) {
	inForms(t, func(t *testing.T, config func(*testing.T, string) provider.Config) {
		dir := t.TempDir()
		first, unsaved := startsIn(t, dir, config(t, dir), wat(t, "faults.wasm"))
		if unsaved == "" || len(imagesIn(t, dir)) != 1 {
			t.Fatalf("the first worker says %q, and there are %v", unsaved, imagesIn(t, dir))
		}
		for range 2 {
			again, unsaved := startsIn(t, dir, config(t, dir), wat(t, "faults.wasm"))
			if unsaved != "" || again != first {
				t.Errorf("started again since %q: %v, and first %v", unsaved, again, first)
			}
		}
	})
}

// An image that was just made is in memory, which counts. A saved one is a file that all workers may share.
func TestAnImageInMemoryCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a module in Go")
	}
	dir := t.TempDir()
	module, err := os.ReadFile(guesttest.File(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	memory := func() int64 {
		group := newGroup(t, live.Config{})
		m := load(t, provider.Config{Runner: newRunnerIn(t, dir, worker.Config{Live: group}), Limits: patient}, module)
		defer m.Close()
		return group.Stats().Memory
	}
	made, saved := memory(), memory()
	if made < saved+1<<20 || saved < 2<<20 {
		t.Errorf("got %d bytes with an image of 2 MiB in memory, and %d with a saved one", made, saved)
	}
}

// A forgetful cache of modules has nothing of what it is given.
type forgetful struct{}

func (forgetful) Get([32]byte) []byte  { return nil }
func (forgetful) Put([32]byte, []byte) {}

// A start that fails before there is a worker says nothing of the image.
func TestAnImageOutlivesAModuleThatIsNotRead(t *testing.T) {
	dir := t.TempDir()
	startsIn(t, dir, provider.Config{}, wat(t, "faults.wasm"))
	saved := imagesIn(t, dir)
	r := newRunnerIn(t, dir, worker.Config{})
	_, err := provider.Open(t.Context(), provider.Config{
		Runner: r, Limits: limits.Limits{Timeout: patience}, ModuleCache: forgetful{},
		Source: func() ([]byte, error) { return nil, errors.New("no file") },
	}, wat(t, "faults.wasm"))
	if err == nil || len(saved) != 1 || !slices.Equal(imagesIn(t, dir), saved) {
		t.Errorf("after %v there are %v of %v", err, imagesIn(t, dir), saved)
	}
}

func TestAModuleWithoutItsDataStartsFromNothingButAnImage(t *testing.T) {
	m, err := provider.Instrument(provider.Config{}, wat(t, "faults.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := wazero.Open(wazero.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	limits, err := patient.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	h, err := guest.NewHost(guest.Config{Module: m.WithoutData(), Limits: limits, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := (pool.InProcess{Engine: e}).Open(t.Context(), h); err == nil || !strings.Contains(err.Error(), "without the data") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// An image depends on all that the worker is told.
func TestAnImageIsForOneModuleConfigurationAndOwner(t *testing.T) {
	takesLong(t)
	dir := t.TempDir()
	module := wat(t, "faults.wasm")
	for n, cfg := range []provider.Config{
		{}, {Values: `{"key":"value"}`}, {Values: `{"key":"other"}`}, {Limits: limits.Limits{Memory: 8 << 20}},
		{Limits: limits.Limits{HostCalls: 77}}, {Lifecycle: abi.LifecycleShared}, {ExposeErrors: true},
	} {
		if _, unsaved := startsIn(t, dir, cfg, module); unsaved == "" || len(imagesIn(t, dir)) != n+1 {
			t.Errorf("configuration %d starts from the image of another, of %d", n, len(imagesIn(t, dir)))
		}
	}
	other := append(slices.Clone(module), 0, 2, 1, 'x') // a custom section
	if _, unsaved := startsIn(t, dir, provider.Config{}, other); unsaved == "" {
		t.Error("another module starts from the image of the first")
	}
	r := newRunnerIn(t, dir, worker.Config{})
	for _, owner := range []string{"acme", "globex"} {
		m, err := provider.Open(compiler.WithOwner(t.Context(), owner), provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, module)
		if err != nil {
			t.Fatal(err)
		}
		works(t, m)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if r.Isolation().Unsaved == "" {
			t.Errorf("%s starts from the image of another", owner)
		}
	}
}

func TestAHarmedImageIsMadeAgain(t *testing.T) {
	takesLong(t)
	for name, harm := range harms() {
		if strings.HasPrefix(name, "the folder") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			inForms(t, func(t *testing.T, config func(*testing.T, string) provider.Config) {
				dir := t.TempDir()
				first, _ := startsIn(t, dir, config(t, dir), wat(t, "faults.wasm"))
				file := imagesIn(t, dir)[0]
				if err := errors.Join(os.Chmod(file, 0o600), harm(file)); err != nil {
					t.Fatal(err)
				}
				again, unsaved := startsIn(t, dir, config(t, dir), wat(t, "faults.wasm"))
				if name == "not ours to read" && os.Getuid() == 0 {
					return
				}
				if unsaved == "" || again == first {
					t.Errorf("the guest was not started: %q, %v", unsaved, again)
				}
				startsIn(t, dir, config(t, dir), wat(t, "faults.wasm")) // saves the image, if the one before has removed it
				if _, unsaved := startsIn(t, dir, config(t, dir), wat(t, "faults.wasm")); unsaved != "" {
					t.Errorf("it is not there again: %s", unsaved)
				}
			})
		})
	}
}

// The puppet asks a service what to do when it is configured.
func TestAnImageThatAServiceHasAnsweredForIsNotSaved(t *testing.T) {
	dir := t.TempDir()
	p := puppet()
	p.Manifest.Ops |= 1 << abi.OpConfigure
	p.Next = func(ctx context.Context, op abi.Op, n int, req *abi.Request) guesttest.Step {
		if op == abi.OpConfigure {
			return guesttest.Return(abi.CodeOK)
		}
		return well(ctx, n, req)
	}
	cfg := provider.Config{Values: `{"key":"value"}`, Services: p.Services()}
	for range 2 {
		if _, unsaved := startsIn(t, dir, cfg, p.Binary(t)); unsaved == "" || len(imagesIn(t, dir)) != 0 {
			t.Errorf("got %q and %v, want no image", unsaved, imagesIn(t, dir))
		}
	}
}

func TestAGuestWithoutAnImageHasNoneSaved(t *testing.T) {
	dir := t.TempDir()
	m := load(t, provider.Config{Runner: newRunnerIn(t, dir, worker.Config{}), Limits: limits.Limits{Timeout: patience}}, wat(t, "boots.wasm"))
	if _, err := read(t.Context(), m, "x:b"); err != nil || len(imagesIn(t, dir)) != 0 {
		t.Errorf("got %v, %v", imagesIn(t, dir), err)
	}
}

// A worker that started from an image and crashed may have crashed by it.
func TestTheImageOfAWorkerThatCrashedIsRemoved(t *testing.T) {
	dir := t.TempDir()
	startsIn(t, dir, provider.Config{}, wat(t, "faults.wasm"))
	r := newRunnerIn(t, dir, worker.Config{})
	m := load(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, wat(t, "faults.wasm"))
	works(t, m)
	if why := r.Isolation().Unsaved; why != "" {
		t.Fatal(why)
	}
	signal(t, unix.SIGKILL)
	recovers(t, m)
	if r.Isolation().Unsaved == "" {
		t.Error("the next worker started from the same image")
	}
}

func TestWorkersThatStartAtOnceSaveOneImage(t *testing.T) {
	dir := t.TempDir()
	entryOf(t, dir, wat(t, "faults.wasm"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { startsIn(t, dir, provider.Config{}, wat(t, "faults.wasm")) })
	}
	all.Wait()
	if _, unsaved := startsIn(t, dir, provider.Config{}, wat(t, "faults.wasm")); unsaved != "" || len(imagesIn(t, dir)) != 1 {
		t.Errorf("got %v, not saved since %q", imagesIn(t, dir), unsaved)
	}
}

// A fullDisk has no images, and no place for any.
type fullDisk struct{ opened, put, removed int }

func (d *fullDisk) Open([32]byte) (*os.File, error) {
	d.opened++
	return nil, unix.EIO
}

func (d *fullDisk) Put(_ [32]byte, write func(*os.File) error) error {
	d.put++
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer full.Close()
	return write(full)
}

func (d *fullDisk) Remove([32]byte) error {
	d.removed++
	return nil
}

func TestAWorkerStartsWithoutADiskForItsImage(t *testing.T) {
	var log bytes.Buffer
	disk := &fullDisk{}
	r := newRunnerIn(t, t.TempDir(), worker.Config{
		NativeCode: worker.NativeCode{Images: func(context.Context) (worker.ImageStore, error) { return disk, nil }},
		Logger:     slog.New(slog.NewTextHandler(&log, nil)),
	})
	m, err := provider.Open(t.Context(), provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, wat(t, "faults.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	works(t, m)
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if disk.opened != 1 || disk.put != 1 || !strings.Contains(log.String(), "image not saved") || r.Isolation().Unsaved == "" {
		t.Errorf("got %+v, %q, and the log %s", disk, r.Isolation().Unsaved, log.String())
	}
}

// A slowDisk has no images, and stores none until it is released.
type slowDisk struct {
	fullDisk
	released chan struct{}
}

func (d *slowDisk) Put([32]byte, func(*os.File) error) error {
	<-d.released
	return nil
}

// openImages counts the files in memory that this process has for images.
func openImages(t *testing.T) (n int) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, _ := os.Readlink("/proc/self/fd/" + f.Name()) // ReadDir's own is closed
		if strings.HasPrefix(name, "/memfd:wasmres-image") {
			n++
		}
	}
	return n
}

func TestFewImagesWaitForASlowDisk(t *testing.T) {
	takesLong(t)
	disk := &slowDisk{released: make(chan struct{})}
	r := newRunnerIn(t, t.TempDir(), worker.Config{
		NativeCode: worker.NativeCode{Images: func(context.Context) (worker.ImageStore, error) { return disk, nil }},
	})
	cfg := provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}
	m := load(t, cfg, wat(t, "faults.wasm"))
	defer close(disk.released)
	works(t, m)
	for range 2 {
		signal(t, unix.SIGKILL)
		recovers(t, m)
	}
	if n := openImages(t); n != 1 {
		t.Errorf("%d images of a provider that crashes wait for the disk", n)
	}
	for range 9 {
		works(t, load(t, cfg, wat(t, "faults.wasm")))
	}
	if n := openImages(t); n != 8 {
		t.Errorf("%d images of ten providers wait for the disk, want 8", n)
	}
}

func TestAModuleWithoutAnOwnerHasNoImageBesideOwners(t *testing.T) {
	r := newRunnerIn(t, t.TempDir(), worker.Config{
		NativeCode: worker.NativeCode{Images: func(context.Context) (worker.ImageStore, error) { return nil, errors.New("no owner") }},
	})
	works(t, load(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience}}, wat(t, "faults.wasm")))
	if got := r.Isolation().Unsaved; got != "no owner" {
		t.Errorf("got %q", got)
	}
}

// imageLiars are workers that give something else for their image.
func imageLiars() map[string]func(l *liar) error {
	state := guest.ImageState{Globals: []uint64{1, 2, 3}, Monotonic: 1 << 63}
	lies := map[string]struct {
		make  func(f *os.File) error
		state guest.ImageState
	}{
		"gives-an-open-image": {func(f *os.File) error { return f.Truncate(64 << 10) }, state},
		"gives-a-big-image":   {func(f *os.File) error { return errors.Join(f.Truncate(1<<40), sealAll(f)) }, state},
		"gives-no-image":      {func(*os.File) error { return nil }, state},
		"gives-many-globals":  {sealAll, guest.ImageState{Globals: make([]uint64, 1<<16)}},
	}
	all := map[string]func(l *liar) error{}
	for name, lie := range lies {
		all[name] = func(l *liar) error {
			files, err := l.beginWith()
			if err != nil {
				return err
			}
			if err := lie.make(files[len(files)-1]); err != nil {
				return err
			}
			text, err := json.Marshal(protocol.ReadyMessage{Info: guest.Info{Reset: guest.ResetInPlace, State: &lie.state}})
			if err := errors.Join(err, l.ready(string(text))); err != nil {
				return err
			}
			for l.next() == nil {
				if err := l.text("fine"); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return all
}

func sealAll(f *os.File) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	return err
}

func TestTheImageOfALyingWorkerIsNotSaved(t *testing.T) {
	takesLong(t)
	for role := range imageLiars() {
		t.Run(role, func(t *testing.T) {
			dir := t.TempDir()
			r := newRunnerIn(t, dir, worker.Config{Executable: roleOf(t, role)})
			p := puppet()
			cfg := provider.Config{Runner: r, Services: p.Services(), Limits: limits.Limits{Timeout: patience}}
			m, err := provider.Open(t.Context(), cfg, p.Binary(t))
			if err != nil {
				t.Fatal(err)
			}
			works(t, m)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if got := imagesIn(t, dir); len(got) != 0 {
				t.Errorf("got %v, want none", got)
			}
		})
	}
}
