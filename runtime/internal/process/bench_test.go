package process_test

import (
	"bytes"
	"fmt"
	"os"
	goruntime "runtime"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// BenchmarkStart measures from Start to the first byte of the child's main, and sees the child buried in between. A
// process that is forked has to be copied, as far as it has memory.
func BenchmarkStart(b *testing.B) {
	for _, own := range []string{"plain", "namespaces"} {
		for _, mebibytes := range []int{0, 256} {
			b.Run(fmt.Sprintf("%s/beside-%dMiB", own, mebibytes), func(b *testing.B) {
				memory := bytes.Repeat([]byte{1}, mebibytes<<20)
				buf := make([]byte, 1)
				for b.Loop() {
					r, w, err := os.Pipe()
					if err != nil {
						b.Fatal(err)
					}
					p, err := process.Start(process.Config{Name: "byte", Files: nil, Stdout: w, Namespaces: own != "plain"})
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
				goruntime.KeepAlive(memory)
			})
		}
	}
}
