package compress_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/wasmres/wasmres/runtime/internal/compress"
)

// decoder reads a stream back, by another hand where there is one.
func decoder(t testing.TB, c compress.Coding, r io.Reader) io.Reader {
	t.Helper()
	var d io.Reader
	var err error
	if c == compress.Gzip {
		d, err = stdgzip.NewReader(r)
	} else {
		// What browsers bear is 8 MiB.
		d, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var codings = []compress.Coding{compress.Gzip, compress.Zstd}

// sample is text with some repetition.
func sample(size int) []byte {
	r := rand.New(rand.NewPCG(7, uint64(size)))
	var b []byte
	for len(b) < size {
		b = fmt.Appendf(b, "{\"id\":%d,\"name\":\"grüße \\\"%x\\\"\",\"tags\":[\"a\",\"b\"]}\n", r.IntN(1000), r.Uint32())
	}
	return b[:size]
}

func TestRoundTrip(t *testing.T) {
	var e compress.Encoders
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range codings {
		for _, size := range []int{0, 1, 1000, 65_536, 300_000, 3 << 20} {
			t.Run(fmt.Sprint(c, " ", size), func(t *testing.T) {
				want := sample(size)
				var out bytes.Buffer
				w, err := e.Open(c, &out)
				if err != nil {
					t.Fatal(err)
				}
				for rest := want; len(rest) > 0; {
					n := min(len(rest), 1+r.IntN(100_000))
					if _, err := w.Write(rest[:n]); err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(decoder(t, c, &out))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("stream: got %d bytes, %v, want %d as they were", len(got), err, size)
				}
				whole, err := e.Append([]byte("before"), c, want)
				if err != nil || !bytes.HasPrefix(whole, []byte("before")) {
					t.Fatalf("Append: got %.10q, %v", whole, err)
				}
				got, err = io.ReadAll(decoder(t, c, bytes.NewReader(whole[len("before"):])))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("Append: got %d bytes, %v, want %d as they were", len(got), err, size)
				}
			})
		}
	}
}

// TestFlushHoldsNothingBack reads after each Flush what was written before it.
func TestFlushHoldsNothingBack(t *testing.T) {
	var e compress.Encoders
	for _, c := range codings {
		t.Run(c.String(), func(t *testing.T) {
			in, out := io.Pipe()
			defer in.Close()
			done := make(chan error, 1)
			turn := make(chan struct{})
			pieces := []string{"a", "bc", strings.Repeat("d", 100_000), "e"}
			go func() {
				w, err := e.Open(c, out)
				for _, p := range pieces {
					if err == nil {
						_, err = w.Write([]byte(p))
					}
					if err == nil {
						err = w.Flush()
					}
					<-turn
				}
				done <- errors.Join(err, w.Close(), out.Close())
			}()
			d := decoder(t, c, in)
			for _, want := range pieces {
				got := make([]byte, len(want))
				if _, err := io.ReadFull(d, got); err != nil || string(got) != want {
					t.Fatalf("got %.10q, %v, want %.10q", got, err, want)
				}
				turn <- struct{}{}
			}
			if rest, err := io.ReadAll(d); err != nil || len(rest) > 0 {
				t.Errorf("got %q, %v at the end", rest, err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

type broken struct{ after int }

func (b *broken) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, errors.New("gone")
	}
	return len(p), nil
}

// TestAReaderThatIsGoneLeavesNoTrace uses encoders again that have failed.
func TestAReaderThatIsGoneLeavesNoTrace(t *testing.T) {
	e := compress.Encoders{Keep: 1}
	for _, c := range codings {
		for after := range 3 {
			w, err := e.Open(c, &broken{after: after * 1000})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Write(sample(1 << 20))
			if err = errors.Join(err, w.Close()); err == nil {
				t.Errorf("%s: got no error from a reader that is gone", c)
			}
			coded, err := e.Append(nil, c, []byte("fine"))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(decoder(t, c, bytes.NewReader(coded))); err != nil || string(got) != "fine" {
				t.Errorf("%s: got %q, %v afterwards", c, got, err)
			}
		}
	}
}

func TestClosedIsClosed(t *testing.T) {
	e := compress.Encoders{Keep: 1}
	for _, c := range codings {
		var out bytes.Buffer
		w, err := e.Open(c, &out)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Close(), w.Close()); err != nil {
			t.Error(err)
		}
		if _, err := w.Write([]byte("x")); err == nil || w.Flush() == nil {
			t.Errorf("%s: a closed stream can be written to", c)
		}
		// Had the second Close given the encoder back again, two streams would share it now.
		one, _ := e.Open(c, io.Discard)
		two, _ := e.Open(c, io.Discard)
		if _, err := one.Write([]byte("x")); err != nil || one.Close() != nil || two.Close() != nil {
			t.Errorf("%s: got %v", c, err)
		}
	}
	if _, err := e.Open(compress.Identity, io.Discard); err == nil {
		t.Error("identity has an encoder")
	}
	if got, err := e.Append(nil, compress.Identity, []byte("x")); err != nil || string(got) != "x" {
		t.Errorf("identity: got %q, %v", got, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	e := compress.Encoders{Keep: 2}
	var running sync.WaitGroup
	for i := range 16 {
		running.Go(func() {
			want := sample(50_000 + i)
			c := codings[i%2]
			for range 10 {
				coded, err := e.Append(nil, c, want)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := io.ReadAll(decoder(t, c, bytes.NewReader(coded))); err != nil || !bytes.Equal(got, want) {
					t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
				}
			}
		})
	}
	running.Wait()
}

func BenchmarkAppend(b *testing.B) {
	for _, c := range codings {
		for _, size := range []int{16 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%d", c, size), func(b *testing.B) {
				var e compress.Encoders
				src := sample(size)
				out, err := e.Append(nil, c, src)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					out, _ = e.Append(out[:0], c, src)
				}
				b.ReportMetric(float64(len(out))/float64(size), "ratio")
			})
		}
	}
}

func BenchmarkStream(b *testing.B) {
	for _, c := range codings {
		b.Run(c.String(), func(b *testing.B) {
			var e compress.Encoders
			src := sample(1 << 20)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				w, err := e.Open(c, io.Discard)
				if err != nil {
					b.Fatal(err)
				}
				for p := range 32 {
					_, _ = w.Write(src[p<<15 : (p+1)<<15])
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNew is what an encoder costs that is not used again.
func BenchmarkNew(b *testing.B) {
	for _, c := range codings {
		b.Run(c.String(), func(b *testing.B) {
			src := sample(100_000)
			b.ReportAllocs()
			for b.Loop() {
				var e compress.Encoders
				w, _ := e.Open(c, io.Discard)
				_, _ = w.Write(src)
				_ = w.Close()
			}
		})
	}
}
