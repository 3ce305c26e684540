package fscap_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
)

// BenchmarkCapability reads a small file by package os, and through the capability; the difference is its overhead.
func BenchmarkCapability(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), make([]byte, 1000), 0o600); err != nil {
		b.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	files, err := fscap.Open([]fscap.Grant{{Host: dir, Guest: "/data"}}, func(context.Context, capability.Use) {})
	if err != nil {
		b.Fatal(err)
	}
	defer files.Close()
	b.Run("read/os", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := root.Open("a.txt")
			if err != nil {
				b.Fatal(err)
			}
			info, err := f.Stat()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.ReadAt(make([]byte, info.Size()), 0); err != nil && err != io.EOF {
				b.Fatal(err)
			}
			f.Close()
		}
	})
	request := (&abi.FileRequest{Path: "/data/a.txt"}).Append(nil)
	b.Run("read/capability", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := files.Services()[abi.ServiceFileRead].Call(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		}
	})
}
