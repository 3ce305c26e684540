package layout_test

import (
	"fmt"
	"testing"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// BenchmarkRun does all that `wasmres run REF` adds to running a file: open the store, resolve, pin, verify the manifest and
// the module. The sizes are those of a provider in C and of one in Go.
func BenchmarkRun(b *testing.B) {
	for _, size := range []int{20_000, 5_800_000} {
		for _, images := range []int{1, 1000} {
			b.Run(fmt.Sprintf("module=%d/images=%d", size, images), func(b *testing.B) {
				dir := privateDir(b)
				r := open(b, dir, private).Repository(repository)
				p := add(b, r, "latest", moduleBytes(1, size))
				for i := 1; i < images; i++ {
					if err := r.Tag(b.Context(), p.Manifest, fmt.Sprint("v", i)); err != nil {
						b.Fatal(err)
					}
				}
				for b.Loop() {
					if err := openAndRun(b, dir); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func openAndRun(b *testing.B, dir string) error {
	l, err := layout.Open(dir, private)
	if err != nil {
		return err
	}
	defer l.Close()
	r := l.Repository(repository)
	d, err := r.Resolve(b.Context(), "latest")
	if err != nil {
		return err
	}
	release, err := l.Pin(b.Context(), d)
	if err != nil {
		return err
	}
	defer release()
	text, err := fetch(b.Context(), r, d)
	if err != nil {
		return err
	}
	m, err := oci.ParseManifest(text)
	if err != nil {
		return err
	}
	_, err = l.Path(b.Context(), m.Layers[0])
	return err
}

// BenchmarkPull stores a module with its configuration and manifest, and names it.
func BenchmarkPull(b *testing.B) {
	for _, size := range []int{20_000, 5_800_000} {
		b.Run(fmt.Sprint("module=", size), func(b *testing.B) {
			r := open(b, privateDir(b), layout.Options{Create: true, Private: true}).Repository(repository)
			module := moduleBytes(1, size)
			for i := 0; b.Loop(); i++ {
				copy(module[8:], fmt.Sprintf("%20d", i))
				add(b, r, fmt.Sprint("v", i%100), module)
			}
		})
	}
}

// BenchmarkFetchCompressed reads a module that is stored compressed, which is most of what running it takes.
func BenchmarkFetchCompressed(b *testing.B) {
	l := open(b, privateDir(b), private)
	r := l.Repository(repository)
	p := add(b, r, "v1", moduleBytes(1, 5_800_000))
	if result := prune(b, l, atOnce); result.Compressed != 1 {
		b.Fatalf("the module is not compressed: %+v", result)
	}
	b.SetBytes(p.Module.Size)
	for b.Loop() {
		if _, err := fetch(b.Context(), r, p.Module); err != nil {
			b.Fatal(err)
		}
	}
}
