package process_test

import (
	"os"
	"testing"

	"github.com/wasmres/wasmres/internal/process"
)

// BenchmarkStart measures from Start to the first byte of the child's main, and sees the child buried in between.
func BenchmarkStart(b *testing.B) {
	for name, own := range map[string]bool{"plain": false, "namespaces": true} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 1)
			for b.Loop() {
				r, w, err := os.Pipe()
				if err != nil {
					b.Fatal(err)
				}
				p, err := process.Start(process.Config{Name: "byte", Files: nil, Stdout: w, Namespaces: own})
				if err != nil {
					b.Fatal(err)
				}
				w.Close()
				if _, err := r.Read(buf); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				r.Close()
				<-p.Done()
				b.StartTimer()
			}
		})
	}
}
