package compiler_test

import (
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
)

func BenchmarkChild(b *testing.B) {
	for name, module := range map[string][]byte{"tiny": tiny(), "hello": guesttest.Binary(b, "hello")} {
		b.Run(name, func(b *testing.B) {
			c := newCompiler(b, compiler.Config{CacheDir: newDir(b)})
			i := uint32(0)
			for b.Loop() {
				i++ // another custom section, another module
				if err := c.Compile(b.Context(), append(module[:len(module):len(module)], 0, 5, 4, byte(i>>21&127), byte(i>>14&127), byte(i>>7&127), byte(i&127))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRemembered(b *testing.B) {
	c := newCompiler(b, compiler.Config{CacheDir: newDir(b)})
	for name, module := range map[string][]byte{"tiny": tiny(), "hello": guesttest.Binary(b, "hello"), "refused": []byte("MZ")} {
		_ = c.Compile(b.Context(), module)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = c.Compile(b.Context(), module)
			}
		})
	}
}
