package layout

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/wasmres/wasmres/internal/filelock"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// Pin keeps a manifest and all that it names from being removed or compressed by any process, until release is called or
// this process ends. In a layout that is not private, that cannot be written, or whose disk is full, it does nothing.
func (l *Layout) Pin(ctx context.Context, d oci.Descriptor) (release func(), err error) {
	if err := check(d); err != nil {
		return nil, l.fail(err)
	}
	if !l.o.Private {
		return func() {}, nil
	}
	release, err = l.pin(ctx, d.Digest)
	if cannotLock(err) || isDiskFull(err) {
		return func() {}, nil
	}
	return release, l.fail(notFound(err, d.Digest))
}

// pin locks the file of a digest together with other processes that have pinned it.
func (l *Layout) pin(ctx context.Context, d oci.Digest) (release func(), err error) {
	unlock, err := l.lock(ctx, false) // so that no process removes the file that is about to be locked
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, _, err := l.stat(d); err != nil {
		return nil, err
	}
	if err := l.mkdir(pinDir); err != nil {
		return nil, err
	}
	unlockPin, err := l.lockFile(ctx, pinDir+"/"+hexOf(d), false)
	if err != nil {
		return nil, err
	}
	held.Store(&unlockPin, nil)
	return func() {
		held.Delete(&unlockPin)
		unlockPin()
	}, nil
}

// held has what unlocks each pin of this process: without a reference to it, the garbage collector would close the file.
var held sync.Map

// pinned returns the digests that a process has pinned.
func (l *Layout) pinned(ctx context.Context) (map[oci.Digest]bool, error) {
	pinned := map[oci.Digest]bool{}
	err := l.entries(ctx, pinDir, func(info fs.FileInfo) {
		d := oci.Digest("sha256:" + info.Name())
		if info.Mode().IsRegular() && oci.CheckDescriptor(oci.Descriptor{Digest: d}, 0) == nil && l.isLocked(pinDir+"/"+info.Name()) {
			pinned[d] = true
		}
	})
	return pinned, err
}

// isLocked reports whether a process has locked a file. If in doubt, it has.
func (l *Layout) isLocked(name string) bool {
	f, _, err := l.open(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer filelock.Close(f)
	locked, err := filelock.TryLock(f, true)
	return err != nil || !locked
}
