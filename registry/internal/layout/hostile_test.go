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
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// foreign returns a layout with an index that another program may have written.
func foreign(t testing.TB, index string) (*layout.Layout, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"oci-layout": `{"imageLayoutVersion": "1.0.0"}`, "index.json": index} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir, layout.Options{}), dir
}

func TestForeignIndexes(t *testing.T) {
	zero := "sha256:" + strings.Repeat("0", 64)
	entry := func(digest string, size int64) string {
		return fmt.Sprintf(`{"schemaVersion":2,"manifests":[{"mediaType":%q,"digest":%q,"size":%d,"annotations":{"org.opencontainers.image.ref.name":"v1"}}]}`,
			oci.ManifestType, digest, size)
	}
	tests := []struct{ name, index, message string }{
		{"good", entry(zero, 10), ""},
		{"no index", "", "unexpected end"},
		{"no JSON", "{", "unexpected end"},
		{"another version", `{"schemaVersion":1,"manifests":[]}`, "schema version 1"},
		{"another type", `{"schemaVersion":2,"mediaType":"text/plain","manifests":[]}`, `"text/plain"`},
		{"cannot unmarshal", `{"schemaVersion":2,"manifests":{}}`, "cannot unmarshal"},
		{"another name", strings.Replace(entry(zero, 10), `"v1"`, `"v2"`, 1), `: the layout has "v2"`},
		{"no name", strings.Replace(entry(zero, 10), "org.open", "com.open", 1), ": the layout has \"" + zero},
		{"many names", `{"schemaVersion":2,"manifests":[` + strings.Repeat("{},", 9) + "{}]}", ", 5 more"},
		{"no manifests", `{"schemaVersion":2}`, "not found"},
		{"null", `{"schemaVersion":2,"manifests":null}`, "not found"},
		{"an entry of another type", `{"schemaVersion":2,"manifests":[1]}`, "cannot unmarshal"},
		{"endless", `{"schemaVersion":2,"manifests":[` + strings.Repeat(" ", 5<<20) + `]}`, "at most 4194304"},
		{"too many entries", `{"schemaVersion":2,"manifests":[` + strings.Repeat("{},", 1_000_000) + `{}]}`, "more than 10000"},
		{"a path as digest", entry("sha256:../../../etc/passwd", 10), "64 hexadecimal digits"},
		{"another algorithm", entry("sha512:"+strings.Repeat("0", 128), 10), "64 hexadecimal digits"},
		{"negative size", entry(zero, -1), "at most"},
		{"huge size", entry(zero, 10<<30), "at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := foreign(t, tt.index)
			d, err := l.Repository("").Resolve(t.Context(), "v1")
			if tt.message == "" && (err != nil || string(d.Digest) != zero) {
				t.Errorf("got %+v, %v", d, err)
			}
			if tt.message != "" && (err == nil || !strings.Contains(err.Error(), tt.message)) {
				t.Errorf("got %v, want %q", err, tt.message)
			}
		})
	}
}

// An index that names things it must not makes no method read or remove anything outside the blobs.
func TestForeignEntriesHarmNothing(t *testing.T) {
	l, dir := foreign(t, `{"schemaVersion":2,"manifests":[
		{"mediaType":"`+oci.ManifestType+`","digest":"sha256:../../oci-layout","size":30},
		{"mediaType":"`+oci.ManifestType+`","digest":"../index.json","size":30,"annotations":{"org.opencontainers.image.ref.name":"v1"}},
		{"digest":"","size":-5}, {}, {"mediaType":"text/plain","annotations":{"org.opencontainers.image.ref.name":"../../v2"}}]}`)
	blob := []byte("some blob")
	if err := l.Repository("").Push(t.Context(), oci.DescriptorOf("text/plain", blob), bytes.NewReader(blob)); err != nil {
		t.Fatal(err)
	}
	images, err := l.Images(t.Context())
	if err != nil || len(images) != 5 {
		t.Errorf("%d images, %v", len(images), err)
	}
	for _, i := range images {
		if i.Err == nil {
			t.Errorf("an image without a manifest is whole: %+v", i)
		}
	}
	if _, err := l.Prune(t.Context(), atOnce); err == nil || !strings.Contains(err.Error(), "nothing is removed") {
		t.Errorf("prune: %v", err)
	}
	if tags, err := l.Repository("").Tags(t.Context()); err != nil || len(tags) != 1 {
		t.Errorf("tags %q, %v", tags, err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 5 {
		t.Errorf("the layout has %q", files)
	}
}

// An artifact of a type that is not known may need any blob.
func TestPruneRefusesUnknownManifests(t *testing.T) {
	zero := "sha256:" + strings.Repeat("0", 64)
	l, _ := foreign(t, `{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.artifact.manifest.v1+json","digest":"`+zero+`","size":10}]}`)
	blob := []byte("some blob")
	d := oci.DescriptorOf("text/plain", blob)
	if err := l.Repository("").Push(t.Context(), d, bytes.NewReader(blob)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Prune(t.Context(), atOnce); err == nil || !strings.Contains(err.Error(), "artifact.manifest") {
		t.Errorf("prune: %v", err)
	}
	if !exists(t, l.Repository(""), d) {
		t.Error("the blob was removed")
	}
}

// TestAnIndexOfOthersIsKept checks that entries of other programs survive a change.
func TestAnIndexOfOthersIsKept(t *testing.T) {
	l, dir := foreign(t, `{"schemaVersion":2,"mediaType":"`+oci.IndexType+`","annotations":{"a":"b"},"manifests":[
		{"mediaType":"application/x","digest":"sha512:00","size":5,"platform":{"architecture":"wasm","os":"wasip1"},"annotations":{"c":"d"}}]}`)
	add(t, l.Repository(""), "v1", moduleBytes(1, 1000))
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index oci.Index
	if err := json.Unmarshal(text, &index); err != nil || len(index.Manifests) != 2 || index.Annotations["a"] != "b" ||
		index.Manifests[0].Platform == nil || index.Manifests[0].Platform.OS != "wasip1" || index.Manifests[0].Annotations["c"] != "d" {
		t.Errorf("%s, %v", text, err)
	}
}

func TestTheIndexHasABound(t *testing.T) {
	text := `{"schemaVersion":2,"manifests":[` + strings.Repeat("{},", layout.MaxEntries-1) + "{}]}"
	l, dir := foreign(t, text)
	module := moduleBytes(1, 100)
	err := push(t.Context(), l.Repository(""), pack(t, module), module)
	if err == nil || !strings.Contains(err.Error(), "10001 manifests") || !strings.Contains(err.Error(), "wasmres images") {
		t.Errorf("got %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "index.json")); err != nil || string(now) != text {
		t.Errorf("the index was changed, %v", err)
	}
}

// A layout of another program may list any number of manifests about one subject.
func TestReferrersHaveABound(t *testing.T) {
	subject := oci.DescriptorOf(oci.ManifestType, []byte("subject"))
	dir := t.TempDir()
	index := oci.Index{Manifests: []oci.Descriptor{{MediaType: oci.ManifestType, Digest: "sha256:../x", Size: 3}}}
	index.SchemaVersion = 2
	blobs := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	for i := range oci.MaxReferrers + 6 {
		p, err := oci.PackSignature(fmt.Append(nil, i), subject)
		if err != nil {
			t.Fatal(err)
		}
		if blobs["blobs/sha256/"+string(p.Manifest.Digest)[7:]] = p.ManifestBytes; i == 0 {
			blobs["blobs/sha256/"+string(p.Manifest.Digest)[7:]] = p.ManifestBytes[1:] // corrupt
		}
		index.Manifests = append(index.Manifests, p.Manifest, p.Manifest)
	}
	text, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	blobs["index.json"] = text
	for name, text := range blobs {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := open(t, dir, layout.Options{}).Repository("").Referrers(t.Context(), subject)
	if err != nil || len(found) != oci.MaxReferrers {
		t.Errorf("%d referrers, %v", len(found), err)
	}
	if found[0].Digest != index.Manifests[3].Digest || found[1].Digest != index.Manifests[5].Digest {
		t.Errorf("the referrers are %s, %s", found[0].Digest, found[1].Digest)
	}
}

// bomb is a frame of n bytes that are all the same.
func bomb(t testing.TB, n int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(w, io.LimitReader(readerFunc(func(p []byte) (int, error) {
		clear(p)
		return len(p), nil
	}), n))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAZstdBombDoesNoHarm(t *testing.T) {
	dir := privateDir(t)
	l := open(t, dir, private)
	r := l.Repository(repository)
	p := add(t, r, "v1", moduleBytes(1, 100_000))
	file := filepath.Join(dir, "zstd", string(p.Module.Digest)[7:]+".zst")
	prune(t, l, atOnce)
	overwrite(t, file, bomb(t, 256<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := l.Path(t.Context(), p.Module)
	runtime.ReadMemStats(&after)
	var corrupt *layout.CorruptError
	if !errors.As(err, &corrupt) || !strings.Contains(corrupt.Actual, "more bytes") {
		t.Errorf("got %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d bytes were allocated", took)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "ingest", "*")); len(left) > 0 {
		t.Errorf("leftovers: %q", left)
	}
}

func TestAWriterWaitsForALimitedTime(t *testing.T) {
	dir := privateDir(t)
	o := private
	locked, blocked := make(chan struct{}), make(chan struct{})
	first := open(t, dir, o)
	p := add(t, first.Repository(repository), "v1", moduleBytes(1, 100))
	slow := open(t, dir, o.WithStep(func(name string) {
		if name == "index locked" {
			close(locked)
			<-blocked
		}
	}))
	done := make(chan error)
	go func() { done <- slow.Repository(repository).Tag(context.Background(), p.Manifest, "slow") }()
	<-locked

	o.LockWait = 20 * time.Millisecond
	err := open(t, dir, o).Repository(repository).Tag(t.Context(), p.Manifest, "v2")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "index.lock")) || !strings.Contains(err.Error(), "wait until it ends") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := first.Repository(repository).Tag(ctx, p.Manifest, "v3"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := first.Repository(repository).Resolve(t.Context(), "v1"); err != nil {
		t.Errorf("a reader waits: %v", err)
	}
	close(blocked)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if tags, err := first.Repository(repository).Tags(t.Context()); err != nil || len(tags) != 2 {
		t.Errorf("tags %q, %v", tags, err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{"mediaType":"a","digest":"sha256:00","size":1,"annotations":{"a":"b"}}]}`))
	f.Add([]byte(`{"schemaVersion":2,"manifests":null}`))
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{},{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := layout.DecodeIndex(text)
		if err == nil && n > len(text) {
			t.Errorf("%d entries", n)
		}
	})
}

func FuzzManifest(f *testing.F) {
	p := pack(f, moduleBytes(1, 10))
	f.Add(p.ManifestBytes)
	f.Add([]byte(`{"config":null,"layers":[],"manifests":[{"digest":"sha256:00","size":-1}],"subject":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if n, err := layout.DecodeManifest(text); err == nil && n > len(text) {
			t.Errorf("%d parts", n)
		}
	})
}

// FuzzCompressed stores any bytes as the compressed file of a module, which is then returned whole or not at all.
func FuzzCompressed(f *testing.F) {
	module := moduleBytes(1, 20_000)
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := w.Write(module); err != nil || w.Close() != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()/2])
	f.Add(append(b.Bytes(), b.Bytes()...))
	f.Add(bomb(f, 1<<20))
	dir := privateDir(f)
	l := open(f, dir, private)
	r := l.Repository(repository)
	d := add(f, r, "v1", module).Module
	file := filepath.Join(dir, "zstd", string(d.Digest)[7:]+".zst")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := errors.Join(os.RemoveAll(blobPath(dir, d)), os.MkdirAll(filepath.Dir(file), 0o700), os.RemoveAll(file), os.WriteFile(file, text, 0o400)); err != nil {
			t.Fatal(err)
		}
		got, err := fetch(t.Context(), r, d)
		if err == nil && !bytes.Equal(got, module) {
			t.Errorf("%d other bytes are returned", len(got))
		}
		if _, absent := os.Stat(file); err != nil && absent == nil {
			t.Errorf("the file stays after %v", err)
		}
	})
}
