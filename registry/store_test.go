package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/registry"
)

// A provider is stored under the name by which it is run.
func ExampleStore() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := registry.OpenStore(filepath.Join(dir, "store"), registry.StoreOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	name, err := registry.ParseReference("ghcr.io/ada/notes:1.0.0")
	if err != nil {
		log.Fatal(err)
	}
	module := strings.NewReader("\x00asm\x01\x00\x00\x00")
	added, err := store.Add(ctx, module, name, registry.Metadata{File: "notes.wasm", Created: time.Unix(1795000000, 0)})
	if err != nil {
		log.Fatal(err)
	}

	// Later, perhaps in another process, the provider is to be run.
	found, err := store.Resolve(ctx, name)
	if err != nil {
		log.Fatal(err)
	}
	release, err := store.Pin(ctx, found)
	if err != nil {
		log.Fatal(err)
	}
	defer release()
	path, d, err := store.Module(ctx, found)
	if err != nil {
		log.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Digest == added.Digest, info.Size() == d.Size)
	images, err := store.Images(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range images {
		fmt.Println(i.Name, i.Module.Size, "bytes, running:", i.Running)
	}
	// Output:
	// true true
	// ghcr.io/ada/notes:1.0.0 8 bytes, running: true
}

// An image layout is a folder that other programs can read and write.
func ExampleOpenLayout() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name, err := registry.ParseReference("oci-layout:" + dir + "/release:v1")
	if err != nil {
		log.Fatal(err)
	}
	release, err := registry.OpenLayout(name, true, registry.StoreOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer release.Close()
	if _, err := release.Add(ctx, strings.NewReader("\x00asm\x01\x00\x00\x00"), name, registry.Metadata{File: "notes.wasm"}); err != nil {
		log.Fatal(err)
	}
	images, err := release.Images(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(images[0].Name, images[0].Manifest.Size, "bytes of manifest")
	// Output: v1 482 bytes of manifest
}

func openStore(t testing.TB) *registry.Store {
	t.Helper()
	s, err := registry.OpenStore(filepath.Join(t.TempDir(), "store"), registry.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStoreNames(t *testing.T) {
	s := openStore(t)
	d, err := s.Add(t.Context(), strings.NewReader("module"), reference(t, "GHCR.io:443/ada/notes:v1"), registry.Metadata{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ghcr.io/ada/notes:v1", "ghcr.io/ada/notes@" + string(d.Digest), "ghcr.io/ada/notes:v9@" + string(d.Digest)} {
		if found, err := s.Resolve(t.Context(), reference(t, name)); err != nil || found.Digest != d.Digest {
			t.Errorf("%s: %s, %v", name, found.Digest, err)
		}
	}
	for _, name := range []string{"ghcr.io/ada/notes", "ghcr.io/ada/notes/other:v1", "ghcr.io/ada/not:v1", "ghcr.io/ada/notes@sha256:" + strings.Repeat("0", 64)} {
		if _, err := s.Resolve(t.Context(), reference(t, name)); !errors.Is(err, registry.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Remove(t.Context(), reference(t, "ghcr.io/ada/other@"+string(d.Digest))); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("another repository loses its image: %v", err)
	}
	if err := s.Remove(t.Context(), reference(t, "ghcr.io/ada/notes@"+string(d.Digest))); err != nil {
		t.Error(err)
	}
	if images, err := s.Images(t.Context()); err != nil || len(images) > 0 {
		t.Errorf("%+v, %v", images, err)
	}
}

func TestStoreRefuses(t *testing.T) {
	s := openStore(t)
	shared, err := registry.OpenLayout(reference(t, "oci-layout:"+t.TempDir()+"/l"), true, registry.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	digest := "@sha256:" + strings.Repeat("0", 64)
	tests := []struct {
		store   *registry.Store
		name    string
		size    int
		message string
	}{
		{s, "ghcr.io/a/b:v1" + digest, 1, "name it by a tag"},
		{s, "ghcr.io/a/b:v1", registry.MaxModule + 1, "more than"},
		{s, "oci-layout:/x:v1", 1, "another image layout"},
		{shared, "ghcr.io/a/b:v1", 1, "names a registry"},
	}
	for _, tt := range tests {
		_, err := tt.store.Add(t.Context(), bytes.NewReader(make([]byte, tt.size)), reference(t, tt.name), registry.Metadata{})
		if err == nil || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s, %d bytes: got %v, want %q", tt.name, tt.size, err, tt.message)
		}
	}
	if _, err := registry.OpenLayout(reference(t, "ghcr.io/a/b"), true, registry.StoreOptions{}); err == nil {
		t.Error("a registry is opened as a layout")
	}
	if _, err := registry.OpenLayout(reference(t, "oci-layout:"+t.TempDir()+"/absent"), false, registry.StoreOptions{}); err == nil {
		t.Error("a layout is opened that does not exist")
	}
}

func TestTheDefaultStoreIsTheUsers(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/data")
	if dir, err := registry.DefaultStoreDir(); err != nil || dir != filepath.FromSlash("/data/wasmres/store") {
		t.Errorf("got %q, %v", dir, err)
	}
	t.Setenv("XDG_DATA_HOME", "relative")
	if dir, err := registry.DefaultStoreDir(); err != nil || !filepath.IsAbs(dir) {
		t.Errorf("got %q, %v", dir, err)
	}
}
