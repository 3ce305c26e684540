package layout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

const (
	// window is how far back zstd looks, in bytes. A decoder refuses frames that need more, and has buffers of twice as much.
	window = 4 << 20
	// smallest is the size of a module, in bytes, from which it is compressed.
	smallest = 16 << 10
)

// errFrame says that a file is not what zstd makes.
var errFrame = errors.New("no valid zstd frame")

// fetchCompressed opens a blob that is stored compressed. The reader decodes at most d.Size bytes, whatever the file has.
func (l *Layout) fetchCompressed(d oci.Descriptor) (io.ReadCloser, error) {
	name := zstdFile(d.Digest)
	f, info, err := l.open(name)
	if err != nil {
		return nil, err
	}
	decoder, err := newDecoder(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	closeBoth := func() error {
		decoder.Close()
		return f.Close()
	}
	return &reader{from: oci.Verify(frameReader{decoder}, d), close: closeBoth,
		corrupt: func(actual string) error { return l.corrupt(name, info, d.Digest, actual) }}, nil
}

// newDecoder returns a decoder without goroutines.
func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
}

// A frameReader tells errors of the frame from those of the file system.
type frameReader struct{ r io.Reader }

func (f frameReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	var file *fs.PathError
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &file) {
		err = fmt.Errorf("%w: %w", errFrame, err)
	}
	return n, err
}

// encode compresses src to dst.
func encode(dst io.Writer, src io.Reader) error {
	encoder, err := zstd.NewWriter(dst, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return err
	}
	_, err = encoder.ReadFrom(src)
	return errors.Join(err, encoder.Close())
}

// compressIdle compresses at most limit of the modules that need not be ready to run. It returns how many and what that saves,
// in bytes.
func (l *Layout) compressIdle(ctx context.Context, grace time.Duration, limit int) (n int, saved int64, err error) {
	start := time.Now()
	idle, err := l.idleModules(ctx, grace)
	if err != nil {
		return 0, 0, err
	}
	var found []error // corrupt modules, which are no reason to leave the others
	for _, d := range idle[:min(len(idle), limit)] {
		less, err := l.compress(ctx, d, start)
		if corrupt := (*CorruptError)(nil); errors.As(err, &corrupt) {
			found = append(found, err)
			continue
		}
		if err != nil {
			return n, saved, err
		}
		if less > 0 {
			n, saved = n+1, saved+less
		}
	}
	return n, saved, errors.Join(found...)
}

// compress stores a module compressed instead of plain, unless it was used since a time. It returns what that saves.
func (l *Layout) compress(ctx context.Context, d oci.Descriptor, since time.Time) (saved int64, err error) {
	plain, err := l.fetch(d)
	if err != nil {
		return 0, err
	}
	defer plain.Close()
	f, err := l.draft()
	if err != nil {
		return 0, err
	}
	size, err := encodeAndCompare(ctx, f, plain, d)
	if err != nil || size >= d.Size {
		f.discard()
		return 0, err
	}
	unlock, err := l.lock(ctx, true)
	if err != nil {
		f.discard()
		return 0, err
	}
	defer unlock()
	if !l.usedAt(d.Digest).Before(since) {
		f.discard()
		return 0, nil
	}
	if err := f.commit(zstdFile(d.Digest), l.mode(0o444)); err != nil {
		return 0, err
	}
	if err := l.syncDir(zstdDir); err != nil {
		return 0, err
	}
	return d.Size - size, l.removeFile(blobFile(d.Digest))
}

// encodeAndCompare compresses src to an empty file, and decodes it again to see that nothing is lost: the original will be
// removed. It returns the size of the file.
func encodeAndCompare(ctx context.Context, f *draft, src io.Reader, d oci.Descriptor) (int64, error) {
	if err := encode(f, &cancelable{ctx, src}); err != nil {
		return 0, err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return 0, err
	}
	decoder, err := newDecoder(f)
	if err != nil {
		return 0, err
	}
	defer decoder.Close()
	return size, copyExactly(ctx, io.Discard, d, decoder)
}

// restore stores a compressed module plain again.
func (l *Layout) restore(ctx context.Context, d oci.Descriptor) error {
	compressed, err := l.fetchCompressed(d)
	if err != nil {
		return err
	}
	defer compressed.Close()
	if err := l.write(ctx, d, compressed); err != nil {
		return err
	}
	if err := l.syncDir(blobDir); err != nil {
		return err
	}
	return l.removeFile(zstdFile(d.Digest))
}

// removeFile removes a file of the layout.
func (l *Layout) removeFile(name string) error {
	err := ignoreAbsent(l.root.Remove(name))
	l.o.step("file removed")
	return err
}

// idleModules returns the modules that are stored plain and that need not be. Those of images in use stay plain, and those of
// images with a name that have been run lately or have just been pulled.
func (l *Layout) idleModules(ctx context.Context, grace time.Duration) (idle []oci.Descriptor, err error) {
	x, err := l.readIndex()
	if err != nil {
		return nil, err
	}
	pinned, err := l.pinned(ctx)
	if err != nil {
		return nil, err
	}
	busy := map[oci.Digest]bool{}
	for _, e := range x.Manifests {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m, err := l.manifest(e)
		if err != nil || m.Subject != nil {
			continue
		}
		ready := pinned[e.Digest] || l.staysPlain(e, m, grace)
		for _, module := range m.modules() {
			busy[module.Digest] = busy[module.Digest] || ready
			idle = append(idle, module)
		}
	}
	seen := map[oci.Digest]bool{}
	return slices.DeleteFunc(idle, func(d oci.Descriptor) bool {
		name, _, err := l.stat(d.Digest)
		drop := busy[d.Digest] || seen[d.Digest] || err != nil || name != blobFile(d.Digest)
		seen[d.Digest] = true
		return drop
	}), nil
}

// lately is how long the module of an image with a name stays plain after it was run.
const lately = 7 * 24 * time.Hour

func (l *Layout) staysPlain(e oci.Descriptor, m *manifest, grace time.Duration) bool {
	used := l.lastUse(m)
	if time.Since(used) < grace || e.Annotations[nameKey] == "" {
		return time.Since(used) < grace
	}
	return time.Since(used) < lately || time.Since(storedAt(e)) < grace
}

// modules returns the layers that are worth compressing.
func (m *manifest) modules() []oci.Descriptor {
	return slices.DeleteFunc(slices.Clone(m.Layers), func(d oci.Descriptor) bool {
		return d.Size < smallest || !oci.IsModule(d.MediaType)
	})
}
