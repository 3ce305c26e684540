package provider_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// An instant service answers at once.
type instant struct{}

func (instant) Call(context.Context, []byte) (capability.Response, error) {
	return capability.Response{}, nil
}

// BenchmarkService is one service call of a guest in this process: of a service that does nothing, and reading a small
// file.
func BenchmarkService(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), make([]byte, 1000), 0o600); err != nil {
		b.Fatal(err)
	}
	files, err := fscap.Open([]fscap.Grant{{Host: dir, Guest: "/data"}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer files.Close()
	const each = 1000
	for _, bb := range []struct {
		name    string
		id      abi.Service
		service capability.Service
		request []byte
	}{
		{"nothing", abi.ServiceKVGet, instant{}, []byte("request")},
		{"file", abi.ServiceFileRead, files.Services()[abi.ServiceFileRead], (&abi.FileRequest{Path: "/data/a.txt"}).Append(nil)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			p := &guesttest.Puppet{
				Manifest: abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead},
				Next:     steps(guesttest.Ask(bb.id, bb.request).Times(each), guesttest.Emit(fine)),
			}
			services := p.Services()
			services[bb.id] = bb.service
			m, err := provider.Open(b.Context(), provider.Config{Runner: pool.InProcess{Engine: openEngine(b)}, Services: services}, p.Binary(b))
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Call(b.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, discard{}); err != nil {
					b.Fatal(err)
				}
				m.AfterResponse()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/each, "ns/service")
		})
	}
}
