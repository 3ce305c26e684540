package sqlitekv_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

const benchKeys = 1000

func BenchmarkPut(b *testing.B) {
	s := open(b, private(b), kvcap.Quota{}, nil)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for i := 0; b.Loop(); i++ {
		put := kvcap.Put{Key: fmt.Sprintf("key/%d", i%benchKeys), Value: make([]byte, 100)}
		if _, err := s.Put(ctx, put); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := open(b, private(b), kvcap.Quota{}, nil)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for i := range benchKeys {
		if _, err := s.Put(ctx, kvcap.Put{Key: fmt.Sprintf("key/%d", i), Value: make([]byte, 100)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		if _, _, err := s.Get(ctx, fmt.Sprintf("key/%d", i%benchKeys)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	s := open(b, private(b), kvcap.Quota{}, nil)
	for i := range benchKeys {
		if _, err := s.Put(b.Context(), kvcap.Put{Key: fmt.Sprintf("key/%d", i), Value: make([]byte, 100)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		if entries, _, err := s.List(b.Context(), "key/", "", 100); err != nil || len(entries) != 100 {
			b.Fatal(len(entries), err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := private(b)
	open(b, dir, kvcap.Quota{}, nil)
	for b.Loop() {
		if err := open(b, dir, kvcap.Quota{}, nil).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
