package layout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// Path returns the path of a file with a blob, to be run: it is plain, and has had the right digest in this process. The
// time of use is recorded, which keeps the file where it is for the grace period of [Layout.Prune]; a pin keeps it longer.
func (l *Layout) Path(ctx context.Context, d oci.Descriptor) (string, error) {
	if err := check(d); err != nil {
		return "", l.fail(err)
	}
	compressed, err := l.use(ctx, d.Digest)
	if err == nil && compressed {
		err = l.restore(ctx, d)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) { // another process may have restored it meanwhile
		err = l.verify(ctx, d)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", l.fail(fmt.Errorf("%w: get it again with wasmres pull", notFound(err, d.Digest)))
	}
	if err != nil {
		return "", l.fail(err)
	}
	return filepath.Join(l.dir, filepath.FromSlash(blobFile(d.Digest))), nil
}

// use records that a blob is used now, and reports whether it is compressed.
func (l *Layout) use(ctx context.Context, d oci.Digest) (compressed bool, err error) {
	unlock, err := l.shared(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	name, _, err := l.stat(d)
	if err == nil && l.o.Private {
		l.markUsed(d)
	}
	return name == zstdFile(d), err
}

// markUsed does without the record where it cannot be written.
func (l *Layout) markUsed(d oci.Digest) {
	name, now := usedDir+"/"+hexOf(d), time.Now()
	if l.root.Chtimes(name, now, now) == nil || l.mkdir(usedDir) != nil {
		return
	}
	if f, err := l.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Close()
		_ = l.root.Chtimes(name, now, now)
	}
}

// usedAt returns when a module was last used; the zero time if it was not.
func (l *Layout) usedAt(d oci.Digest) time.Time {
	info, err := l.root.Lstat(usedDir + "/" + hexOf(d))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// lastUse returns when one of the modules of an image was last used.
func (l *Layout) lastUse(m *manifest) (last time.Time) {
	for _, d := range m.Layers {
		if t := l.usedAt(d.Digest); t.After(last) {
			last = t
		}
	}
	return last
}

// verify checks the digest of a file, unless this process has done so since the file was written.
func (l *Layout) verify(ctx context.Context, d oci.Descriptor) error {
	name := blobFile(d.Digest)
	f, info, err := l.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() != d.Size {
		return l.wrongSize(f, info, d)
	}
	if l.isVerified(name, info) {
		return nil
	}
	err = copyExactly(ctx, io.Discard, d, f)
	if mismatch := (*oci.MismatchError)(nil); errors.As(err, &mismatch) {
		return l.corrupt(name, info, d.Digest, actualOf(mismatch))
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.verified) >= maxEntries {
		clear(l.verified)
	}
	l.verified[name] = info
	return nil
}

func (l *Layout) isVerified(name string, info fs.FileInfo) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, ok := l.verified[name]
	return ok && os.SameFile(before, info) && before.ModTime().Equal(info.ModTime()) && before.Size() == info.Size()
}
