package layout_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

const repository = "registry.example/team/demo"

// private are the options of the user's store.
var private = layout.Options{Create: true, Private: true, Compress: true}

func open(t testing.TB, dir string, o layout.Options) *layout.Layout {
	t.Helper()
	l, err := layout.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// privateDir returns the path of a folder for a store, which does not exist yet.
func privateDir(t testing.TB) string { return filepath.Join(t.TempDir(), "store") }

// moduleBytes returns the bytes of a module, of which versions differ. They can be compressed to about a fifth.
func moduleBytes(version, size int) []byte {
	b := append([]byte("\x00asm\x01\x00\x00\x00"), fmt.Sprintf("version %d;", version)...)
	for i := 0; len(b) < size; i++ {
		b = fmt.Appendf(b, "function %d calls %d;", i*version, i*i)
	}
	return b[:size]
}

// pack describes a module.
func pack(t testing.TB, module []byte) oci.Packed {
	t.Helper()
	p, err := oci.Pack(oci.DescriptorOf(oci.ModuleType, module), "demo.wasm", time.Unix(1700000000, 0), map[string]string{"dev.wasmres.abi": "1"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// push stores an artifact without a tag.
func push(ctx context.Context, r oci.Target, p oci.Packed, module []byte) error {
	return errors.Join(r.Push(ctx, p.Module, bytes.NewReader(module)), r.Push(ctx, p.Config, bytes.NewReader(p.ConfigBytes)),
		r.Push(ctx, p.Manifest, bytes.NewReader(p.ManifestBytes)))
}

// add stores a module with a tag.
func add(t testing.TB, r oci.Target, tag string, module []byte) oci.Packed {
	t.Helper()
	p := pack(t, module)
	if err := errors.Join(push(t.Context(), r, p, module), r.Tag(t.Context(), p.Manifest, tag)); err != nil {
		t.Fatal(err)
	}
	return p
}

// addSignature stores a referrer of a manifest, with some bundle.
func addSignature(t testing.TB, r oci.Target, subject oci.Descriptor, bundle string) oci.Packed {
	t.Helper()
	p, err := oci.PackSignature([]byte(bundle), subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := push(t.Context(), r, p, []byte(bundle)); err != nil {
		t.Fatal(err)
	}
	return p
}

func fetch(ctx context.Context, s oci.Source, d oci.Descriptor) ([]byte, error) {
	r, err := s.Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestArtifactsComeBack(t *testing.T) {
	for name, o := range map[string]layout.Options{"store": private, "plain": {Create: true}} {
		t.Run(name, func(t *testing.T) {
			dir := privateDir(t)
			l := open(t, dir, o)
			repositoryName := ""
			if o.Private {
				repositoryName = repository
			}
			r := l.Repository(repositoryName)
			module := moduleBytes(1, 100_000)
			p := add(t, r, "v1", module)
			add(t, r, "v2", moduleBytes(2, 1000))
			signature := addSignature(t, r, p.Manifest, `{"bundle":1}`)

			again := open(t, dir, layout.Options{Private: o.Private}).Repository(repositoryName)
			for _, locator := range []string{"v1", string(p.Manifest.Digest)} {
				if d, err := again.Resolve(t.Context(), locator); err != nil || d.Digest != p.Manifest.Digest || d.Size != p.Manifest.Size ||
					d.MediaType != oci.ManifestType || d.ArtifactType != oci.ProviderType || d.Annotations != nil {
					t.Errorf("%s: got %+v, %v", locator, d, err)
				}
			}
			if got, err := fetch(t.Context(), again, p.Module); err != nil || !bytes.Equal(got, module) {
				t.Errorf("the module comes back with %d bytes, %v", len(got), err)
			}
			if tags, err := again.Tags(t.Context()); err != nil || !slices.Equal(tags, []string{"v1", "v2"}) {
				t.Errorf("tags %q, %v", tags, err)
			}
			found, err := again.Referrers(t.Context(), p.Manifest)
			if err != nil || len(found) != 1 || found[0].Digest != signature.Manifest.Digest || found[0].ArtifactType != oci.BundleType ||
				found[0].Annotations["dev.sigstore.bundle.content"] != "dsse-envelope" {
				t.Errorf("referrers %+v, %v", found, err)
			}
			for _, d := range []oci.Descriptor{p.Module, p.Config, p.Manifest, signature.Manifest} {
				if exists, err := again.Exists(t.Context(), d); err != nil || !exists {
					t.Errorf("%s exists: %v, %v", d.MediaType, exists, err)
				}
			}
			if _, err := again.Resolve(t.Context(), "v3"); !errors.Is(err, oci.ErrNotFound) {
				t.Errorf("an unknown tag: %v", err)
			}
			path, err := l.Path(t.Context(), p.Module)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, module) {
				t.Errorf("the file to run has %d bytes, %v", len(got), err)
			}
			checkLayout(t, dir, o.Private)
		})
	}
}

// checkLayout checks what OCI's specification says of a layout, that each file has the content of its name, and the modes.
func checkLayout(t testing.TB, dir string, isPrivate bool) {
	t.Helper()
	var version map[string]string
	if text, err := os.ReadFile(filepath.Join(dir, "oci-layout")); err != nil || json.Unmarshal(text, &version) != nil || version["imageLayoutVersion"] != "1.0.0" {
		t.Errorf("oci-layout: %q, %v", text, err)
	}
	var index oci.Index
	if text, err := os.ReadFile(filepath.Join(dir, "index.json")); err != nil || json.Unmarshal(text, &index) != nil || index.SchemaVersion != 2 {
		t.Errorf("index.json: %q, %v", text, err)
	}
	for _, d := range index.Manifests {
		file := filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(string(d.Digest), "sha256:"))
		if info, err := os.Stat(file); err != nil || info.Size() != d.Size {
			t.Errorf("the manifest %s: %v", d.Digest, err)
		}
	}
	blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*"))
	if err != nil || len(blobs) < len(index.Manifests) {
		t.Errorf("%d blobs, %v", len(blobs), err)
	}
	for _, file := range blobs {
		text, err := os.ReadFile(file)
		if want := "sha256:" + filepath.Base(file); err != nil || string(oci.DigestOf(text)) != want {
			t.Errorf("%s has another content, %v", file, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o222 != 0 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "ingest", "*")); len(left) > 0 {
		t.Errorf("leftovers: %q", left)
	}
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && isPrivate {
			if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s is for others: %v, %v", path, info.Mode(), err)
			}
		}
		return err
	})
}

func TestATagMoves(t *testing.T) {
	l := open(t, privateDir(t), private)
	r := l.Repository(repository)
	first := add(t, r, "latest", moduleBytes(1, 1000))
	second := add(t, r, "latest", moduleBytes(2, 1000))
	if d, err := r.Resolve(t.Context(), "latest"); err != nil || d.Digest != second.Manifest.Digest {
		t.Errorf("the tag names %s, %v", d.Digest, err)
	}
	if d, err := r.Resolve(t.Context(), string(first.Manifest.Digest)); err != nil || d.Digest != first.Manifest.Digest {
		t.Errorf("the version before: %s, %v", d.Digest, err)
	}
	other := l.Repository("registry.example/other")
	if _, err := other.Resolve(t.Context(), "latest"); !errors.Is(err, oci.ErrNotFound) {
		t.Errorf("another repository has the tag: %v", err)
	}
	if err := other.Tag(t.Context(), first.Manifest, "latest"); err != nil {
		t.Fatal(err)
	}
	if err := r.Remove(t.Context(), "latest"); err != nil {
		t.Fatal(err)
	}
	if err := r.Remove(t.Context(), "latest"); !errors.Is(err, oci.ErrNotFound) {
		t.Errorf("a tag is removed twice: %v", err)
	}
	images, err := l.Images(t.Context())
	if err != nil || len(images) != 2 || images[0].Name != "registry.example/other:latest" || images[0].Manifest.Digest != first.Manifest.Digest {
		t.Errorf("images %+v, %v", images, err)
	}
}

func TestPushRefuses(t *testing.T) {
	good := []byte("the content")
	d := oci.DescriptorOf("application/octet-stream", good)
	p := pack(t, good)
	with := func(edit func(*oci.Descriptor)) oci.Descriptor {
		d := d
		edit(&d)
		return d
	}
	tests := []struct {
		name    string
		d       oci.Descriptor
		content string
		message string
	}{
		{"wrong content", d, "the CONTENT", "have the digest"},
		{"too short", d, "the conten", "has 10 bytes, not as many"},
		{"too long", d, "the contents", "has more bytes"},
		{"digest with a path", with(func(d *oci.Descriptor) { d.Digest = "sha256:../../../../etc/passwd" }), "", "64 hexadecimal digits"},
		{"another algorithm", with(func(d *oci.Descriptor) { d.Digest = oci.Digest("sha512:" + strings.Repeat("0", 128)) }), "", "64 hexadecimal digits"},
		{"no digest", with(func(d *oci.Descriptor) { d.Digest = "" }), "", "64 hexadecimal digits"},
		{"negative size", with(func(d *oci.Descriptor) { d.Size = -1 }), "", "at most"},
		{"huge size", with(func(d *oci.Descriptor) { d.Size = 10 << 30 }), "", "at most"},
		{"huge manifest", with(func(d *oci.Descriptor) { d.Size, d.MediaType = 5<<20, oci.ManifestType }), "", "at most"},
		{"manifest without its parts", p.Manifest, string(p.ManifestBytes), "before all that it names"},
		{"manifest of another type", oci.DescriptorOf(oci.IndexType, p.ManifestBytes), string(p.ManifestBytes), "its descriptor says"},
		{"manifest that is none", oci.DescriptorOf(oci.ManifestType, good), string(good), "no manifest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := privateDir(t)
			r := open(t, dir, private).Repository(repository)
			err := r.Push(t.Context(), tt.d, strings.NewReader(tt.content))
			if err == nil || !strings.Contains(err.Error(), tt.message) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want %q", err, tt.message)
			}
			if exists, _ := r.Exists(t.Context(), tt.d); exists {
				t.Error("it was stored")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "ingest", "*")); len(left) > 0 {
				t.Errorf("leftovers: %q", left)
			}
		})
	}
}

func TestPushEndsWithItsContext(t *testing.T) {
	dir := privateDir(t)
	r := open(t, dir, private).Repository(repository)
	ctx, cancel := context.WithCancel(t.Context())
	endless := readerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	})
	d := oci.Descriptor{MediaType: oci.ModuleType, Digest: oci.DigestOf(nil), Size: oci.MaxModule}
	if err := r.Push(ctx, d, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) > 1 { // blobs/sha256
		t.Errorf("leftovers: %q", left)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestOpenRefuses(t *testing.T) {
	write := func(t *testing.T, dir, name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	link := func(t *testing.T, dir, name string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.Symlink(t.TempDir(), filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string)
		o       layout.Options
		message string
	}{
		{"nothing there", func(*testing.T, string) {}, layout.Options{}, "no such file"},
		{"no layout", func(t *testing.T, dir string) { write(t, dir, "README", "") }, layout.Options{}, "it has no file oci-layout"},
		{"other files", func(t *testing.T, dir string) { write(t, dir, "README", "") }, private, `no empty folder: it has "README"`},
		{"another version", func(t *testing.T, dir string) { write(t, dir, "oci-layout", `{"imageLayoutVersion":"2.0.0"}`) }, private, "2.0.0"},
		{"a version of many bytes", func(t *testing.T, dir string) { write(t, dir, "oci-layout", strings.Repeat(" ", 5000)) }, private, "at most 4096"},
		{"link as version", func(t *testing.T, dir string) { link(t, dir, "oci-layout") }, private, "escapes"},
		{"link as blobs", func(t *testing.T, dir string) { link(t, dir, "blobs") }, private, "blobs is a link"},
		{"link in blobs", func(t *testing.T, dir string) { link(t, dir, "blobs/sha256") }, private, "blobs/sha256 is a link"},
		{"link as ingest", func(t *testing.T, dir string) { link(t, dir, "ingest") }, private, "ingest is a link"},
		{"open to others", func(t *testing.T, dir string) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}, private, "chmod go-rwx"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := privateDir(t)
			tt.prepare(t, dir)
			l, err := layout.Open(dir, tt.o)
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.message) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want %q", err, tt.message)
			}
		})
	}
}
