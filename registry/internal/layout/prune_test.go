package layout_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// at once has Prune remove all that it may.
var atOnce = layout.PruneOptions{Unnamed: time.Nanosecond, Grace: time.Nanosecond}

func prune(t testing.TB, l *layout.Layout, o layout.PruneOptions) layout.PruneResult {
	t.Helper()
	time.Sleep(time.Millisecond) // older than a grace of nothing
	result, err := l.Prune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func exists(t testing.TB, r oci.Target, d oci.Descriptor) bool {
	t.Helper()
	found, err := r.Exists(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPruneKeepsWhatIsNeeded(t *testing.T) {
	dir := privateDir(t)
	l := open(t, dir, private)
	r := l.Repository(repository)
	named := add(t, r, "v1", moduleBytes(1, 1000))
	signature := addSignature(t, r, named.Manifest, "of v1")
	ofSignature := addSignature(t, r, signature.Manifest, "of the signature")
	removed := add(t, r, "v2", moduleBytes(2, 1000))
	goes := addSignature(t, r, removed.Manifest, "of v2")
	superseded := add(t, r, "v3", moduleBytes(3, 1000))
	add(t, r, "v3", moduleBytes(4, 1000))
	if err := r.Remove(t.Context(), "v2"); err != nil {
		t.Fatal(err)
	}
	orphan := []byte("a blob of a push that was not finished")
	if err := r.Push(t.Context(), oci.DescriptorOf("text/plain", orphan), bytes.NewReader(orphan)); err != nil {
		t.Fatal(err)
	}

	if result := prune(t, l, layout.PruneOptions{}); result.Files != 0 || len(result.Names) != 0 {
		t.Errorf("within the grace: %+v", result)
	}
	dry := prune(t, l, layout.PruneOptions{Grace: time.Nanosecond, DryRun: true})
	result := prune(t, l, layout.PruneOptions{Grace: time.Nanosecond})
	if dry.Freed != result.Freed || dry.Files != result.Files || result.Files != 6 || result.Freed < removed.Module.Size {
		t.Errorf("the dry run promised %+v, the real one did %+v", dry, result)
	}
	for _, p := range []oci.Packed{named, signature, ofSignature, superseded} {
		if !exists(t, r, p.Manifest) || !exists(t, r, p.Module) {
			t.Errorf("%s of %s was removed", p.Manifest.ArtifactType, p.Manifest.Digest)
		}
	}
	for _, p := range []oci.Packed{removed, goes} {
		if exists(t, r, p.Manifest) || exists(t, r, p.Module) {
			t.Errorf("%s of %s was not removed", p.Manifest.ArtifactType, p.Manifest.Digest)
		}
	}
	if prune(t, l, atOnce); exists(t, r, superseded.Manifest) {
		t.Error("the superseded image was not removed")
	}
	if result := prune(t, l, layout.PruneOptions{Unused: time.Nanosecond, Grace: time.Nanosecond}); !slices.Equal(result.Names, []string{repository + ":v1", repository + ":v3"}) {
		t.Errorf("unused names: %q", result.Names)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("an empty store has %q, %v", left, err)
	}
	checkLayout(t, dir, true)
}

// pinUntilKilled pins a manifest, says so and waits. Its arguments are the folder and the tag.
func pinUntilKilled(ctx context.Context, args []string) error {
	l, err := layout.Open(args[0], private)
	if err != nil {
		return err
	}
	d, err := l.Repository(repository).Resolve(ctx, args[1])
	if err != nil {
		return err
	}
	if _, err := l.Pin(ctx, d); err != nil {
		return err
	}
	runtime.GC() // which must not release the pin
	runtime.GC()
	fmt.Println("pinned")
	_, err = io.Copy(io.Discard, os.Stdin) // until the test ends
	return err
}

func TestAPinOfAnotherProcessHolds(t *testing.T) {
	dir := privateDir(t)
	l := open(t, dir, private)
	r := l.Repository(repository)
	p := add(t, r, "v1", moduleBytes(1, 40_000))
	cmd := child(t, "pin", dir, "v1")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(stdout).ReadString('\n'); said != "pinned\n" {
		t.Fatalf("the child said %q, %v", said, err)
	}
	if images, err := l.Images(t.Context()); err != nil || len(images) != 1 || !images[0].Running {
		t.Errorf("images %+v, %v", images, err)
	}
	if err := r.Remove(t.Context(), "v1"); err != nil {
		t.Fatal(err)
	}
	if result := prune(t, l, atOnce); result.Compressed != 0 || !exists(t, r, p.Module) {
		t.Errorf("what runs was removed or compressed: %+v", result)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if prune(t, l, atOnce); exists(t, r, p.Module) {
		t.Error("the pin holds after its process has ended")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "pins", "*")); len(left) > 0 {
		t.Errorf("pins are left: %q", left)
	}
}

func TestAPinIsReleased(t *testing.T) {
	l := open(t, privateDir(t), private)
	r := l.Repository(repository)
	p := add(t, r, "v1", moduleBytes(1, 1000))
	release, err := l.Pin(t.Context(), p.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Remove(t.Context(), "v1"); err != nil {
		t.Fatal(err)
	}
	if prune(t, l, atOnce); !exists(t, r, p.Module) {
		t.Error("a pinned module was removed")
	}
	release()
	release()
	if prune(t, l, atOnce); exists(t, r, p.Module) {
		t.Error("the pin holds after its release")
	}
	if _, err := l.Pin(t.Context(), p.Manifest); !errors.Is(err, oci.ErrNotFound) {
		t.Errorf("a pin of what is not there: %v", err)
	}
}

func TestSupersededModulesAreCompressed(t *testing.T) {
	dir := privateDir(t)
	l := open(t, dir, private)
	r := l.Repository(repository)
	var versions []oci.Packed
	for v := range 5 {
		versions = append(versions, add(t, r, "latest", moduleBytes(v, 100_000)))
	}
	zst, err := filepath.Glob(filepath.Join(dir, "zstd", "*.zst"))
	if err != nil || len(zst) != 4 {
		t.Errorf("%d modules are compressed, %v", len(zst), err)
	}
	u, err := l.Usage(t.Context())
	if err != nil || u.Images != 5 || u.Size < 500_000 || u.Disk > u.Size*2/5 {
		t.Errorf("usage %+v, %v", u, err)
	}
	for v, p := range versions {
		if got, err := fetch(t.Context(), r, p.Module); err != nil || !bytes.Equal(got, moduleBytes(v, 100_000)) {
			t.Errorf("version %d is fetched with %d bytes, %v", v, len(got), err)
		}
	}
	path, err := l.Path(t.Context(), versions[0].Module)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, moduleBytes(0, 100_000)) {
		t.Errorf("the oldest version has %d bytes, %v", len(got), err)
	}
	if left, _ := filepath.Glob(strings.Replace(zst[0], filepath.Base(zst[0]), "*", 1)); len(left) != 3 {
		t.Errorf("%d modules are compressed while one of them runs", len(left))
	}
	if result := prune(t, l, layout.PruneOptions{}); result.Compressed != 0 {
		t.Errorf("a module that has just run was compressed: %+v", result)
	}
	if result := prune(t, l, layout.PruneOptions{Grace: time.Nanosecond}); result.Compressed != 2 {
		t.Errorf("with no grace: %+v", result) // the version with a name was never run
	}
	if _, err := l.Path(t.Context(), versions[4].Module); err != nil {
		t.Fatal(err)
	}
	if result := prune(t, l, layout.PruneOptions{Grace: time.Nanosecond}); result.Compressed != 0 {
		t.Errorf("a module with a name that was run lately was compressed: %+v", result)
	}
}

// TestConcurrentUse does everything at once in one process. What is named must stay whole.
func TestConcurrentUse(t *testing.T) {
	l := open(t, privateDir(t), private)
	r := l.Repository(repository)
	first := add(t, r, "first", moduleBytes(100, 40_000))
	var running sync.WaitGroup
	for g := range 3 {
		running.Go(func() {
			for i := range 4 {
				module := moduleBytes(1+i, 30_000) // the same in all goroutines
				p, err := packModule(module)
				if err == nil {
					err = errors.Join(push(t.Context(), r, p, module), r.Tag(t.Context(), p.Manifest, fmt.Sprintf("v%d-%d", g, i)),
						r.Tag(t.Context(), p.Manifest, "latest"))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		running.Go(func() {
			for range 4 {
				release, err := l.Pin(t.Context(), first.Manifest)
				if err != nil {
					t.Error(err)
					continue
				}
				if _, err := l.Path(t.Context(), first.Module); err != nil {
					t.Error(err)
				}
				release()
				if _, err := l.Prune(t.Context(), layout.PruneOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	images, err := l.Images(t.Context())
	if err != nil || len(images) != 1+3*4+1 {
		t.Errorf("%d images, %v", len(images), err)
	}
	for _, i := range images {
		if _, err := l.Path(t.Context(), i.Module); err != nil || i.Err != nil {
			t.Errorf("%s: %v, %v", i.Name, err, i.Err)
		}
	}
}

// TestLeftoversAreRemoved leaves files as a killed process does, and one as a process that writes slowly.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := privateDir(t)
	add(t, open(t, dir, private).Repository(repository), "v1", moduleBytes(1, 100))
	long := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{"old", "new", "written"} {
		file := filepath.Join(dir, "ingest", name)
		if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "new" {
			continue
		}
		if err := os.Chtimes(file, long, long); err != nil {
			t.Fatal(err)
		}
	}
	writer, err := os.Open(filepath.Join(dir, "ingest", "written"))
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := syscall.Flock(int(writer.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	add(t, open(t, dir, private).Repository(repository), "v2", moduleBytes(2, 100))
	left, err := filepath.Glob(filepath.Join(dir, "ingest", "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "new" || filepath.Base(left[1]) != "written" {
		t.Errorf("left are %q, %v", left, err)
	}
}

func TestPlainLayoutsAreNotCompressed(t *testing.T) {
	dir := privateDir(t)
	l := open(t, dir, layout.Options{Create: true})
	r := l.Repository("")
	for v := range 3 {
		add(t, r, "latest", moduleBytes(v, 100_000))
	}
	if result := prune(t, l, atOnce); result.Files != 0 || result.Compressed != 0 {
		t.Errorf("what other programs may need: %+v", result)
	}
	checkLayout(t, dir, false)
}
