package registry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/transfer"
)

// A Store has providers and their signatures on disk, in an OCI image layout. Several processes may use one store at once, and
// each may be killed at any time: what a method has acknowledged is on disk, and nothing is stored in part. The methods may be
// called concurrently. An error about what the store does not have is [ErrNotFound].
type Store struct {
	layout *layout.Layout
	shared bool // a layout for other programs too, whose names are tags
}

// ErrNotFound says that a store or a registry does not have a reference, manifest or module.
var ErrNotFound = oci.ErrNotFound

// A CorruptError says that a file of a store has not the content that its name promises. The file has been removed if
// possible, so that the next pull stores it again.
type CorruptError = layout.CorruptError

// StoreOptions are how a store is opened. The zero StoreOptions are good for programs that wait for each other.
type StoreOptions struct {
	// LockWait bounds the wait for another process that changes the store. 0 means 10 s.
	LockWait time.Duration
}

// DefaultStoreDir returns the folder of the user's store: $XDG_DATA_HOME/wasmres/store, or its equivalent of the system.
func DefaultStoreDir() (string, error) {
	if base := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "wasmres", "store"), nil
	}
	if home, err := os.UserHomeDir(); err == nil && runtime.GOOS == "linux" {
		return filepath.Join(home, ".local", "share", "wasmres", "store"), nil
	}
	base, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("the user has no folder for a store: set XDG_DATA_HOME: %w", err)
	}
	return filepath.Join(base, "wasmres", "store"), nil
}

// OpenStore opens the user's store in dir, or creates it. No other user may have access to the folder. The store has images of
// any number of registries, by the names that they have there, and compresses modules that have not been run lately.
func OpenStore(dir string, o StoreOptions) (*Store, error) {
	l, err := layout.Open(dir, layout.Options{Create: true, Private: true, Compress: true, LockWait: o.LockWait})
	if err != nil {
		return nil, err
	}
	return &Store{layout: l}, nil
}

// OpenLayout opens the image layout that a reference as oci-layout:DIR:TAG names, for reading and writing; if create, it
// creates the layout unless there is one. oras, crane and skopeo can read it.
func OpenLayout(r Reference, create bool, o StoreOptions) (*Store, error) {
	if r.Layout == "" {
		return nil, fmt.Errorf("%s names no image layout: write oci-layout:DIRECTORY:tag", r)
	}
	l, err := layout.Open(r.Layout, layout.Options{Create: create, LockWait: o.LockWait})
	if err != nil {
		return nil, err
	}
	return &Store{layout: l, shared: true}, nil
}

// Close releases the store. Pins stay until they are released.
func (s *Store) Close() error { return s.layout.Close() }

// Dir returns the absolute path of the folder.
func (s *Store) Dir() string { return s.layout.Dir() }

// repository returns the part of the store with the tags that belong to the repository of a reference.
func (s *Store) repository(r Reference) (*layout.Repository, error) {
	switch {
	case s.shared && r.Layout == "":
		return nil, fmt.Errorf("%s names a registry, not the image layout %s", r, s.Dir())
	case s.shared:
		return s.layout.Repository(""), nil
	case r.Layout != "":
		return nil, fmt.Errorf("%s names another image layout than the store %s", r, s.Dir())
	}
	return s.layout.Repository(canonicalName(r)), nil
}

// Metadata is what a manifest says of a module that is added to a store.
type Metadata struct {
	File        string            // the name that other programs give to the file of the module
	Created     time.Time         // part of the manifest: the same arguments give the same digest
	Annotations map[string]string // of the manifest
}

// Add stores a module as an image with a name. It reads the module to its end, at most [MaxModule] bytes.
func (s *Store) Add(ctx context.Context, module io.Reader, name Reference, m Metadata) (Descriptor, error) {
	repository, err := s.repository(name)
	if err != nil {
		return Descriptor{}, err
	}
	if name.Digest != "" {
		return Descriptor{}, fmt.Errorf("%s has a digest, which follows from the module: name it by a tag", name)
	}
	content, err := io.ReadAll(io.LimitReader(module, MaxModule+1))
	if err != nil {
		return Descriptor{}, err
	}
	if len(content) > MaxModule {
		return Descriptor{}, fmt.Errorf("the module of %s has more than %d bytes", name, MaxModule)
	}
	p, err := oci.Pack(oci.DescriptorOf(oci.ModuleType, content), m.File, m.Created, m.Annotations)
	if err != nil {
		return Descriptor{}, err
	}
	for _, part := range []struct {
		d Descriptor
		b []byte
	}{{p.Module, content}, {p.Config, p.ConfigBytes}, {p.Manifest, p.ManifestBytes}} {
		if err := repository.Push(ctx, part.d, bytes.NewReader(part.b)); err != nil {
			return Descriptor{}, err
		}
	}
	return p.Manifest, repository.Tag(ctx, p.Manifest, name.Tag)
}

// AddSignature stores a signature, as [Signer.Sign] makes it, beside the manifest that it is about.
func (s *Store) AddSignature(ctx context.Context, r Reference, manifest Descriptor, bundle []byte) error {
	repository, err := s.repository(r)
	if err != nil {
		return err
	}
	_, err = transfer.PushSignature(ctx, repository, bundle, manifest)
	return err
}

// MaxModule bounds a module, in bytes.
const MaxModule = oci.MaxModule

// Resolve returns the descriptor of the manifest that a reference names, by its digest if it has one.
func (s *Store) Resolve(ctx context.Context, r Reference) (Descriptor, error) {
	repository, err := s.repository(r)
	if err != nil {
		return Descriptor{}, err
	}
	return repository.Resolve(ctx, r.Locator())
}

// Module returns the path of the module of a manifest, and its descriptor. The file is plain and was verified. It stays for at
// least an hour unless the image is removed and the store pruned; a pin keeps it longer. A caller who opens the file sets
// Options.Digest of package runtime to the digest of the descriptor, so that a change in between is found.
func (s *Store) Module(ctx context.Context, manifest Descriptor) (path string, module Descriptor, err error) {
	r, err := s.layout.Repository("").Fetch(ctx, manifest)
	if err != nil {
		return "", Descriptor{}, err
	}
	defer r.Close()
	text, err := oci.ReadAll(r, manifest, oci.MaxManifest)
	if err != nil {
		return "", Descriptor{}, err
	}
	parsed, err := oci.ParseManifest(text)
	if err == nil {
		module, err = oci.ModuleOf(parsed, MaxModule)
	}
	if err != nil {
		return "", Descriptor{}, fmt.Errorf("manifest %s: %w", manifest.Digest, err)
	}
	path, err = s.layout.Path(ctx, module)
	return path, module, err
}

// Pin keeps an image from being removed or compressed by any process, until release is called or this process ends.
func (s *Store) Pin(ctx context.Context, manifest Descriptor) (release func(), err error) {
	return s.layout.Pin(ctx, manifest)
}

// An Image is a provider, or another artifact, in a store.
type Image = layout.Image

// Images returns the images, sorted by name; those that have lost their names last.
func (s *Store) Images(ctx context.Context) ([]Image, error) { return s.layout.Images(ctx) }

// Remove removes the name of an image, or with a digest all its names in a repository. [Store.Prune] then frees the space.
func (s *Store) Remove(ctx context.Context, r Reference) error {
	repository, err := s.repository(r)
	if err != nil {
		return err
	}
	return repository.Remove(ctx, r.Locator())
}

// PruneOptions say what [Store.Prune] removes. With the zero PruneOptions, it removes no image that has a name.
type PruneOptions = layout.PruneOptions

// A PruneResult says what was removed.
type PruneResult = layout.PruneResult

// Prune removes images, then what no remaining image and no running process needs, and compresses modules that have not been
// run lately.
func (s *Store) Prune(ctx context.Context, o PruneOptions) (PruneResult, error) {
	return s.layout.Prune(ctx, o)
}

// Usage is what a store takes on disk.
type Usage = layout.Usage

// Usage counts images and bytes.
func (s *Store) Usage(ctx context.Context) (Usage, error) { return s.layout.Usage(ctx) }
