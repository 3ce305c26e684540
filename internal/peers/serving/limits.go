package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
	"github.com/wasmres/wasmres/internal/textenc"
)

// printLimits measures what no server on this machine can pass.
func printLimits(w io.Writer) error {
	pipe, err := throughPipe()
	if err != nil {
		return err
	}
	loopback, err := throughLoopback()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "\n| limit of this machine | MB/s |\n|---|---|")
	blob, text, large := content(blobURI), content(textURI), content(largeURI)
	out := make([]byte, 2*len(large))
	for _, l := range []struct {
		name  string
		bytes int
		f     func()
	}{
		{"memory copy, 1 MiB", len(blob), func() { copy(out, blob) }},
		{"memory copy, 64 MiB", len(large), func() { copy(out, large) }},
		{"base64 of 1 MiB, Go's own", len(blob), func() { base64.StdEncoding.Encode(out, blob) }},
		{"base64 of 1 MiB, as wasmres does it", len(blob), func() { var e textenc.Base64; e.Append(out[:0], blob) }},
		{"JSON string of the 1 MiB text, as wasmres does it", len(text), func() { textenc.AppendText(out[:0], text) }},
	} {
		fmt.Fprintf(w, "| %s | %s |\n", l.name, figure(speed(l.bytes, l.f)))
	}
	fmt.Fprintf(w, "| pipe, written and read 1 MiB at a time | %s |\n", figure(pipe))
	_, err = fmt.Fprintf(w, "| TCP on loopback, in the same way | %s |\n", figure(loopback))
	return err
}

func content(uri string) []byte {
	r, _ := fixture.ByURI(uri)
	return r.Content()
}

// speed gives the best of a while, in MB/s.
func speed(bytes int, f func()) float64 {
	best := time.Duration(1<<63 - 1)
	for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
		at := time.Now()
		f()
		best = min(best, time.Since(at))
	}
	return float64(bytes) / 1e6 / best.Seconds()
}

func throughPipe() (float64, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return through(r, w)
}

func throughLoopback() (float64, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	w, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return 0, err
	}
	r, err := l.Accept()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return through(r, w)
}

// through sends what takes a while and closes w.
func through(r io.Reader, w io.WriteCloser) (float64, error) {
	const all = 1 << 30
	sent := make(chan error, 1)
	go func() {
		defer w.Close()
		p := make([]byte, fixture.MiB)
		for n := 0; n < all; n += len(p) {
			if _, err := w.Write(p); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	began := time.Now()
	p := make([]byte, fixture.MiB)
	var err error
	n := 0
	for k := 0; err == nil; n += k {
		k, err = r.Read(p)
	}
	took := time.Since(began)
	if err := <-sent; err != nil {
		return 0, err
	}
	return float64(n) / 1e6 / took.Seconds(), nil
}
