package textenc_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/textenc"
)

func BenchmarkText(b *testing.B) {
	for _, c := range corpora() {
		dst, s := make([]byte, 0, 7*len(c.text)), string(c.text)
		for _, bb := range []struct {
			name   string
			encode func()
		}{
			{"textenc", func() { dst, _ = textenc.AppendText(dst[:0], c.text) }},
			{"words", func() { dst, _ = textenc.AppendTextByWords(dst[:0], c.text) }},
			{"copy", func() { dst = append(dst[:0], c.text...) }},
			{"std", func() { _, _ = json.Marshal(s) }},
		} {
			b.Run(c.name+"/"+bb.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					bb.encode()
				}
			})
		}
	}
}

func BenchmarkString(b *testing.B) {
	for _, s := range []string{
		"item-42",
		"res://item/00042/abc",
		"naïve café, 日本語テキ",
		"a \"quoted\" string\n\t",
		"Generated item number 00042 used for the list benchmark",
		"file:///" + strings.Repeat("directory/", 10) + "file",
	} {
		dst := make([]byte, 0, 1024)
		b.Run(fmt.Sprintf("%d-%.4s", len(s), s), func(b *testing.B) {
			b.Run("textenc", func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					dst = textenc.AppendString(dst[:0], s)
				}
			})
			b.Run("std", func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					_, _ = json.Marshal(s)
				}
			})
		})
	}
}

func BenchmarkBase64(b *testing.B) {
	for _, size := range []int{100, 4 << 10, 64 << 10, 1 << 20} {
		p, dst := make([]byte, size), make([]byte, 0, 2*size)
		b.Run(fmt.Sprintf("%d/textenc", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				var enc textenc.Base64
				dst = enc.End(enc.Append(dst[:0], p))
			}
		})
		b.Run(fmt.Sprintf("%d/std", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				dst = base64.StdEncoding.AppendEncode(dst[:0], p)
			}
		})
	}
}

func BenchmarkBuffers(b *testing.B) {
	var buffers textenc.Buffers
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			buffers.Give(buffers.Take(64 << 10))
		}
	})
}
