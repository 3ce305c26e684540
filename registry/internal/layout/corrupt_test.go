package layout_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

func blobPath(dir string, d oci.Descriptor) string {
	return filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(string(d.Digest), "sha256:"))
}

// overwrite replaces a file of a layout, as a failing disk or another program does.
func overwrite(t testing.TB, file string, text []byte) {
	t.Helper()
	if err := errors.Join(os.Remove(file), os.WriteFile(file, text, 0o400)); err != nil {
		t.Fatal(err)
	}
}

func TestCorruptBlobsAreFoundAndMended(t *testing.T) {
	if testing.Short() {
		t.Skip("it harms a blob in each place")
	}
	module := moduleBytes(1, 100_000)
	changed := bytes.Clone(module)
	changed[len(changed)-1] ^= 1
	file := func(p oci.Packed) (string, oci.Descriptor) {
		return "blobs/sha256/" + string(p.Module.Digest)[7:], p.Module
	}
	manifest := func(p oci.Packed) (string, oci.Descriptor) {
		return "blobs/sha256/" + string(p.Manifest.Digest)[7:], p.Manifest
	}
	compressed := func(p oci.Packed) (string, oci.Descriptor) {
		return "zstd/" + string(p.Module.Digest)[7:] + ".zst", p.Module
	}
	tests := []struct {
		name    string
		of      func(oci.Packed) (string, oci.Descriptor)
		content []byte
		actual  string
	}{
		{"one bit", file, changed, "the digest sha256:"},
		{"shorter", file, module[:50_000], "50000 bytes"},
		{"empty", file, nil, "0 bytes"},
		{"longer", file, append(bytes.Clone(module), 0), "100001 bytes"},
		{"manifest", manifest, []byte("{}"), "2 bytes"},
		{"not zstd", compressed, []byte("something else"), "no valid zstd frame"},
		{"half of zstd", compressed, []byte{0x28, 0xb5, 0x2f, 0xfd}, "no valid zstd frame"},
		{"empty zstd", compressed, nil, "0 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := privateDir(t)
			l := open(t, dir, private)
			r := l.Repository(repository)
			p := add(t, r, "v1", module)
			prune(t, l, layout.PruneOptions{Grace: time.Nanosecond}) // compresses the module
			name, d := tt.of(p)
			if strings.HasPrefix(name, "blobs") {
				if _, err := l.Path(t.Context(), p.Module); err != nil { // stores it plain
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, filepath.FromSlash(name))
			overwrite(t, path, tt.content)

			_, err := fetch(t.Context(), r, d)
			if d.MediaType == oci.ModuleType && tt.name != "one bit" {
				overwriteAgain(t, path, tt.content)
				_, err = l.Path(t.Context(), d)
			}
			var corrupt *layout.CorruptError
			if !errors.As(err, &corrupt) || corrupt.File != path || corrupt.Expected != d.Digest || corrupt.Kept != nil ||
				!strings.Contains(corrupt.Actual, tt.actual) || !strings.Contains(err.Error(), "wasmres pull") {
				t.Fatalf("got %v", err)
			}
			if exists(t, r, p.Manifest) {
				t.Error("the image exists without a part")
			}
			if d.MediaType == oci.ModuleType {
				if _, err := l.Path(t.Context(), d); !errors.Is(err, oci.ErrNotFound) || !strings.Contains(err.Error(), "wasmres pull") {
					t.Errorf("run again: %v", err)
				}
				if images, err := l.Images(t.Context()); err != nil || len(images) != 1 || !errors.Is(images[0].Err, oci.ErrNotFound) {
					t.Errorf("images %+v, %v", images, err)
				}
			}
			add(t, r, "v1", module)
			if got, err := fetch(t.Context(), r, p.Module); err != nil || !bytes.Equal(got, module) {
				t.Errorf("after the second pull: %d bytes, %v", len(got), err)
			}
			checkLayout(t, dir, true)
		})
	}
}

func overwriteAgain(t testing.TB, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o400); err != nil {
		t.Fatal(err)
	}
}

func TestACorruptModuleDoesNotEndPrune(t *testing.T) {
	dir := privateDir(t)
	l := open(t, dir, private)
	r := l.Repository(repository)
	bad := add(t, r, "bad", moduleBytes(1, 40_000))
	good := add(t, r, "good", moduleBytes(2, 40_000))
	overwrite(t, blobPath(dir, bad.Module), moduleBytes(3, 40_000))
	time.Sleep(time.Millisecond)
	result, err := l.Prune(t.Context(), layout.PruneOptions{Grace: time.Nanosecond})
	var corrupt *layout.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Expected != bad.Module.Digest || result.Compressed != 1 {
		t.Errorf("got %+v, %v", result, err)
	}
	if got, err := fetch(t.Context(), r, good.Module); err != nil || !bytes.Equal(got, moduleBytes(2, 40_000)) {
		t.Errorf("the other module: %d bytes, %v", len(got), err)
	}
}

func TestAWrongDescriptorRemovesNothing(t *testing.T) {
	l := open(t, privateDir(t), private)
	r := l.Repository(repository)
	p := add(t, r, "v1", moduleBytes(1, 1000))
	wrong := p.Module
	wrong.Size++
	for range 2 {
		if _, err := fetch(t.Context(), r, wrong); err == nil || !strings.Contains(err.Error(), "its descriptor says 1001") {
			t.Errorf("got %v", err)
		}
		if _, err := l.Path(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "its descriptor says 1001") {
			t.Errorf("got %v", err)
		}
	}
	if !exists(t, r, p.Module) {
		t.Error("the blob is gone")
	}
}

// A file is verified again when it has changed since this process verified it.
func TestAFileIsVerifiedAgainAfterAChange(t *testing.T) {
	dir := privateDir(t)
	l := open(t, dir, private)
	p := add(t, l.Repository(repository), "v1", moduleBytes(1, 1000))
	path, err := l.Path(t.Context(), p.Module)
	if err != nil || path != blobPath(dir, p.Module) {
		t.Fatal(path, err)
	}
	overwrite(t, path, moduleBytes(2, 1000))
	var corrupt *layout.CorruptError
	if _, err := l.Path(t.Context(), p.Module); !errors.As(err, &corrupt) {
		t.Errorf("got %v", err)
	}
}

func TestLinksInTheLayoutAreRefused(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	overwriteAgain(t, outside, moduleBytes(1, 1000))
	for _, target := range []string{outside, "index.json"} {
		dir := privateDir(t)
		l := open(t, dir, private)
		r := l.Repository(repository)
		p := add(t, r, "v1", moduleBytes(1, 1000))
		if err := errors.Join(os.Remove(blobPath(dir, p.Module)), os.Symlink(target, blobPath(dir, p.Module))); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Path(t.Context(), p.Module); err == nil {
			t.Errorf("a link to %s is followed", target)
		}
		if _, err := fetch(t.Context(), r, p.Module); err == nil {
			t.Errorf("a link to %s is fetched", target)
		}
		if err := errors.Join(os.Remove(filepath.Join(dir, "index.json")), os.Symlink(target, filepath.Join(dir, "index.json"))); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Resolve(t.Context(), "v1"); err == nil {
			t.Errorf("a link to %s is the index", target)
		}
	}
}

// Others may put the same blob in its place again, by a rename, while it is opened.
func TestABlobThatIsReplacedIsRead(t *testing.T) {
	dir := privateDir(t)
	l := open(t, dir, private)
	r := l.Repository(repository)
	module := moduleBytes(1, 1000)
	p := add(t, r, "v1", module)
	name, other := blobPath(dir, p.Module), filepath.Join(t.TempDir(), "other")
	stop := make(chan struct{})
	var replacing sync.WaitGroup
	replacing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := errors.Join(os.WriteFile(other, module, 0o600), os.Rename(other, name)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 1000 {
		if got, err := fetch(t.Context(), r, p.Module); err != nil || !bytes.Equal(got, module) {
			t.Errorf("got %d bytes, %v", len(got), err)
			break
		}
	}
	close(stop)
	replacing.Wait()
}
