package layout

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// maxBlob bounds what is stored as one file, in bytes.
const maxBlob = oci.MaxModule

// A CorruptError says that a file of the layout does not have the content that its name promises.
type CorruptError struct {
	File     string     // its path
	Expected oci.Digest // of its content
	Actual   string     // what it has instead
	Kept     error      // why the file could not be removed; nil if it was
}

func (e *CorruptError) Error() string {
	did := "it has been removed"
	if e.Kept != nil {
		did = fmt.Sprintf("remove it (%v)", e.Kept)
	}
	return fmt.Sprintf("%s is corrupt: it has %s, expected the digest %s: %s; get it again with wasmres pull",
		e.File, e.Actual, e.Expected, did)
}

// check checks a descriptor, before its digest becomes the name of a file.
func check(d oci.Descriptor) error {
	limit := int64(maxBlob)
	if isManifest(d.MediaType) {
		limit = oci.MaxManifest
	}
	return oci.CheckDescriptor(d, limit)
}

func hexOf(d oci.Digest) string { return strings.TrimPrefix(string(d), "sha256:") }

// blobFile and zstdFile name the files of a digest that has been checked.
func blobFile(d oci.Digest) string { return blobDir + "/" + hexOf(d) }
func zstdFile(d oci.Digest) string { return zstdDir + "/" + hexOf(d) + ".zst" }

// stat returns which file has a blob, plain or compressed. The error is [fs.ErrNotExist] if there is none.
func (l *Layout) stat(d oci.Digest) (name string, info fs.FileInfo, err error) {
	for _, name := range []string{blobFile(d), zstdFile(d)} {
		info, err = l.root.Lstat(name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return name, info, err
		}
	}
	return "", nil, err
}

// has reports whether a blob is stored, and keeps [Layout.Prune] from removing it for the grace period. The caller has
// locked the layout.
func (l *Layout) has(d oci.Descriptor) (bool, error) {
	name, info, err := l.stat(d.Digest)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || name == blobFile(d.Digest) && info.Size() != d.Size {
		return false, err // a blob of another size is overwritten
	}
	now := time.Now()
	_ = l.root.Chtimes(name, now, now)
	return true, nil
}

// hasParts reports whether all is stored that a manifest names.
func (l *Layout) hasParts(m *manifest) (bool, error) {
	for _, part := range m.parts() {
		if found, err := l.has(part); err != nil || !found {
			return false, err
		}
	}
	return true, nil
}

// write stores d.Size bytes of r, whose digest must be d's. Their name is on disk after a syncDir of blobDir.
func (l *Layout) write(ctx context.Context, d oci.Descriptor, r io.Reader) error {
	l.tidied.Do(func() { _, _, _ = l.removeAbandoned(ctx, ingestDir, defaultGrace, l.root.Remove) }) // Prune says what fails
	f, err := l.draft()
	if err != nil {
		return err
	}
	if err := copyExactly(ctx, f, d, io.TeeReader(r, stepper(l.o.step))); err != nil {
		f.discard()
		return err
	}
	return f.commit(blobFile(d.Digest), l.mode(0o444))
}

// copyExactly copies d.Size bytes of the right digest, until ctx ends.
func copyExactly(ctx context.Context, w io.Writer, d oci.Descriptor, r io.Reader) error {
	_, err := io.Copy(w, oci.Verify(&cancelable{ctx, r}, d))
	return err
}

// A cancelable reader fails when ctx has ended.
type cancelable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// A stepper is called for each part of a blob that is written.
type stepper func(string)

func (s stepper) Write(p []byte) (int, error) {
	s("blob part read")
	return len(p), nil
}

// fetch opens a blob. Its last bytes are returned only after the whole has been verified.
func (l *Layout) fetch(d oci.Descriptor) (io.ReadCloser, error) {
	if err := check(d); err != nil {
		return nil, err
	}
	f, info, err := l.open(blobFile(d.Digest))
	if errors.Is(err, fs.ErrNotExist) {
		return l.fetchCompressed(d)
	}
	if err != nil {
		return nil, err
	}
	if info.Size() != d.Size {
		return nil, errors.Join(l.wrongSize(f, info, d), f.Close())
	}
	return &reader{from: oci.Verify(f, d), close: f.Close,
		corrupt: func(actual string) error { return l.corrupt(blobFile(d.Digest), info, d.Digest, actual) }}, nil
}

// wrongSize says which is wrong, the file or the descriptor.
func (l *Layout) wrongSize(f io.Reader, info fs.FileInfo, d oci.Descriptor) error {
	err := copyExactly(context.Background(), io.Discard, oci.Descriptor{Digest: d.Digest, Size: info.Size()}, f)
	if err == nil {
		return fmt.Errorf("%s has %d bytes, but its descriptor says %d", d.Digest, info.Size(), d.Size)
	}
	if mismatch := (*oci.MismatchError)(nil); !errors.As(err, &mismatch) {
		return err
	}
	return l.corrupt(blobFile(d.Digest), info, d.Digest, fmt.Sprintf("%d bytes", info.Size()))
}

// corrupt removes a file with the wrong content, so that it can be stored again. info is of the file that was read.
func (l *Layout) corrupt(name string, info fs.FileInfo, want oci.Digest, actual string) error {
	return &CorruptError{
		File: filepath.Join(l.dir, filepath.FromSlash(name)), Expected: want, Actual: actual, Kept: l.removeSame(name, info),
	}
}

// removeSame removes a file unless another one has taken its place. It needs no lock: it looks at the file after it has
// moved it to where no reader looks.
func (l *Layout) removeSame(name string, info fs.FileInfo) error {
	if err := l.mkdir(ingestDir); err != nil {
		return err
	}
	aside := ingestDir + "/" + rand.Text()
	if err := l.root.Rename(name, aside); err != nil {
		return ignoreAbsent(err)
	}
	now, err := l.root.Lstat(aside)
	if err != nil {
		return err
	}
	if !os.SameFile(now, info) {
		return l.root.Rename(aside, name)
	}
	return l.root.Remove(aside)
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A reader reads a blob. If its content is wrong, it removes the file, and fails before the last byte.
type reader struct {
	from    io.Reader
	close   func() error
	corrupt func(actual string) error
	err     error // of all further reads
}

func (r *reader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.from.Read(p)
	mismatch := (*oci.MismatchError)(nil)
	switch {
	case errors.As(r.err, &mismatch):
		r.err = r.corrupt(actualOf(mismatch))
	case errors.Is(r.err, errFrame):
		r.err = r.corrupt(r.err.Error())
	}
	return n, r.err
}

func (r *reader) Close() error { return r.close() }

func actualOf(m *oci.MismatchError) string {
	switch {
	case m.Got != "":
		return "the digest " + string(m.Got)
	case m.Size < 0:
		return "more bytes"
	}
	return fmt.Sprintf("%d bytes", m.Size)
}

// readManifest returns the verified bytes of a manifest.
func (l *Layout) readManifest(d oci.Descriptor) ([]byte, error) {
	if err := oci.CheckDescriptor(d, oci.MaxManifest); err != nil {
		return nil, err
	}
	r, err := l.fetch(d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
