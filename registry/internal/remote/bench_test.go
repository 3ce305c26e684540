package remote_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/registryserver"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/registrytest"
	"github.com/wasmres/wasmres/registry/internal/remote"
	"github.com/wasmres/wasmres/registry/internal/transfer"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/memory"
	orasremote "oras.land/oras-go/v2/registry/remote"
)

// A rival pushes and pulls a provider: this package, or oras-go alone.
type rival struct {
	name string
	push func(b *testing.B, host, repository string, bytes []byte, p oci.Packed)
	pull func(b *testing.B, host, repository string)
}

func rivals(b *testing.B) []rival {
	client := newClient(b, remote.Options{})
	plain := func(b *testing.B, host, repository string) *orasremote.Repository {
		r, err := orasremote.NewRepository(host + "/" + repository)
		if err != nil {
			b.Fatal(err)
		}
		r.PlainHTTP = true
		return r
	}
	return []rival{
		{"wasmres", func(b *testing.B, host, name string, module []byte, _ oci.Packed) {
			var from registrytest.Memory
			b.StopTimer()
			from.Add(b, module, "1.0")
			b.StartTimer()
			if _, err := transfer.Copy(b.Context(), &from, "1.0", repository(b, client, host+"/"+name), "1.0", transfer.Options{}); err != nil {
				b.Fatal(err)
			}
		}, func(b *testing.B, host, name string) {
			var to registrytest.Memory
			if _, err := transfer.Copy(b.Context(), repository(b, client, host+"/"+name), "1.0", &to, "1.0", transfer.Options{}); err != nil {
				b.Fatal(err)
			}
		}},
		{"oras-go", func(b *testing.B, host, name string, module []byte, p oci.Packed) {
			b.StopTimer()
			from := memory.New()
			for _, part := range []struct {
				d oci.Descriptor
				b []byte
			}{{p.Module, module}, {p.Config, p.ConfigBytes}, {p.Manifest, p.ManifestBytes}} {
				if err := from.Push(b.Context(), part.d, bytes.NewReader(part.b)); err != nil {
					b.Fatal(err)
				}
			}
			if err := from.Tag(b.Context(), p.Manifest, "1.0"); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if _, err := oras.Copy(b.Context(), from, "1.0", plain(b, host, name), "1.0", oras.DefaultCopyOptions); err != nil {
				b.Fatal(err)
			}
		}, func(b *testing.B, host, name string) {
			if _, err := oras.Copy(context.WithoutCancel(b.Context()), plain(b, host, name), "1.0", memory.New(), "1.0", oras.DefaultCopyOptions); err != nil {
				b.Fatal(err)
			}
		}},
	}
}

const moduleSize = 5_804_600 // that of a Go provider

func pack(b *testing.B, module []byte) oci.Packed {
	p, err := oci.Pack(oci.DescriptorOf(oci.ModuleType, module), "notes.wasm", time.Unix(1700000000, 0), map[string]string{"org.opencontainers.image.version": "1.0"})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkPushCold pushes a module that the registry does not have.
func BenchmarkPushCold(b *testing.B) {
	host, _ := registryserver.Start(b, registryserver.Options{})
	bytes := module(moduleSize)
	n := uint64(0)
	for _, r := range rivals(b) {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				n++
				binary.LittleEndian.PutUint64(bytes[8:], n)
				p := pack(b, bytes)
				b.StartTimer()
				r.push(b, host, fmt.Sprint("cold", n), bytes, p)
			}
		})
	}
}

// BenchmarkPushPresent pushes a module that the registry has.
func BenchmarkPushPresent(b *testing.B) {
	host, _ := registryserver.Start(b, registryserver.Options{})
	bytes := module(moduleSize)
	p := pack(b, bytes)
	for _, r := range rivals(b) {
		b.Run(r.name, func(b *testing.B) {
			r.push(b, host, r.name, bytes, p)
			for b.Loop() {
				r.push(b, host, r.name, bytes, p)
			}
		})
	}
}

// BenchmarkPull pulls a module by its tag.
func BenchmarkPull(b *testing.B) {
	host, _ := registryserver.Start(b, registryserver.Options{})
	bytes := module(moduleSize)
	for _, r := range rivals(b) {
		b.Run(r.name, func(b *testing.B) {
			r.push(b, host, r.name, bytes, pack(b, bytes))
			for b.Loop() {
				r.pull(b, host, r.name)
			}
		})
	}
}
