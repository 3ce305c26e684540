// Package registrytest has a target of artifacts in memory, which tests of the registry share. Only tests import it.
package registrytest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// Memory is an [oci.Target] in memory. Its zero value is empty.
type Memory struct {
	mu    sync.Mutex
	blobs map[oci.Digest][]byte
	types map[oci.Digest]oci.Descriptor // of manifests
	tags  map[string]oci.Digest
	Log   []string // what was fetched and stored, in order
}

// Resolve implements [oci.Source].
func (m *Memory) Resolve(_ context.Context, locator string) (oci.Descriptor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	digest, ok := m.tags[locator]
	if !ok {
		digest = oci.Digest(locator)
	}
	d, ok := m.types[digest]
	if !ok {
		return d, fmt.Errorf("%s: %w", locator, oci.ErrNotFound)
	}
	return d, nil
}

// Fetch implements [oci.Source].
func (m *Memory) Fetch(_ context.Context, d oci.Descriptor) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Log = append(m.Log, "fetch "+kind(d))
	b, ok := m.blobs[d.Digest]
	if !ok {
		return nil, fmt.Errorf("%s: %w", d.Digest, oci.ErrNotFound)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func kind(d oci.Descriptor) string { return d.MediaType[strings.LastIndexByte(d.MediaType, '/')+1:] }

// Referrers implements [oci.Source].
func (m *Memory) Referrers(_ context.Context, d oci.Descriptor) ([]oci.Descriptor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []oci.Descriptor
	for _, at := range slices.Sorted(maps.Keys(m.types)) {
		parsed, err := oci.ParseManifest(m.blobs[at])
		if err == nil && parsed.Subject != nil && parsed.Subject.Digest == d.Digest {
			found = append(found, m.types[at])
		}
	}
	return found, nil
}

// Tags implements [oci.Source].
func (m *Memory) Tags(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.tags)), nil
}

// Exists implements [oci.Target].
func (m *Memory) Exists(_ context.Context, d oci.Descriptor) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.blobs[d.Digest]
	return ok, nil
}

// Push implements [oci.Target].
func (m *Memory) Push(_ context.Context, d oci.Descriptor, r io.Reader) error {
	var content bytes.Buffer
	content.Grow(int(d.Size) + bytes.MinRead)
	if _, err := content.ReadFrom(oci.Verify(r, d)); err != nil {
		return err
	}
	b := content.Bytes()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Log = append(m.Log, "push "+kind(d))
	if m.blobs == nil {
		m.blobs, m.types, m.tags = map[oci.Digest][]byte{}, map[oci.Digest]oci.Descriptor{}, map[string]oci.Digest{}
	}
	m.blobs[d.Digest] = b
	if d.MediaType == oci.ManifestType || d.MediaType == oci.IndexType {
		m.types[d.Digest] = d
	}
	return nil
}

// Tag implements [oci.Target].
func (m *Memory) Tag(_ context.Context, d oci.Descriptor, tag string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Log = append(m.Log, "tag "+tag)
	m.tags[tag] = d.Digest
	return nil
}

// Len returns the number of blobs and manifests.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.blobs)
}

// Bytes returns those of a digest; nil if there are none.
func (m *Memory) Bytes(d oci.Digest) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.blobs[d]
}

// Replace has other bytes answer for a digest.
func (m *Memory) Replace(d oci.Digest, b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[d] = b
}

// Add packs a module, stores it and tags it.
func (m *Memory) Add(t testing.TB, module []byte, tag string) oci.Packed {
	t.Helper()
	d := oci.DescriptorOf(oci.ModuleType, module)
	p, err := oci.Pack(d, "notes.wasm", time.Unix(1700000000, 0), map[string]string{"org.opencontainers.image.version": tag})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, part := range []struct {
		d oci.Descriptor
		b []byte
	}{{p.Module, module}, {p.Config, p.ConfigBytes}, {p.Manifest, p.ManifestBytes}} {
		if err := m.Push(ctx, part.d, bytes.NewReader(part.b)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Tag(ctx, p.Manifest, tag); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.Log = nil
	m.mu.Unlock()
	return p
}
